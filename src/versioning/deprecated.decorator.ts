import { applyDecorators, SetMetadata, UseInterceptors } from '@nestjs/common';
import { DEPRECATION, type Deprecation, DeprecationInterceptor } from './deprecation.interceptor';

/** Announces the removal of an operation in its response headers and in the OpenAPI document. */
export function Deprecated(deprecation: Deprecation): MethodDecorator {
  return applyDecorators(SetMetadata(DEPRECATION, deprecation), UseInterceptors(DeprecationInterceptor));
}
