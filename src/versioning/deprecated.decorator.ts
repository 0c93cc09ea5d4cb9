import { applyDecorators, SetMetadata, UseInterceptors } from '@nestjs/common';
import { DEPRECATION_METADATA, type Deprecation, DeprecationInterceptor } from './deprecation.interceptor';

/** Announces the removal of an operation in its response headers and in the OpenAPI document. */
export function Deprecated(deprecation: Deprecation): MethodDecorator {
  return applyDecorators(SetMetadata(DEPRECATION_METADATA, deprecation), UseInterceptors(DeprecationInterceptor));
}
