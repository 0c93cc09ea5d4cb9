import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';

export const API_GROUP_METADATA = 'api:api-group';

export interface ApiGroupMetadata {
  readonly name: string;
  readonly description: string;
}

/** Groups the operations of a controller under an OpenAPI tag with a description. */
export function ApiGroup(name: string, description: string): ClassDecorator {
  return applyDecorators(
    ApiTags(name),
    SetMetadata(API_GROUP_METADATA, { name, description } satisfies ApiGroupMetadata),
  );
}
