import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';

export interface Deprecation {
  /** The UTC date since which the operation is deprecated (RFC 9745), `YYYY-MM-DD`. */
  readonly since: string;
  /** The UTC date of its removal (RFC 8594), `YYYY-MM-DD`. */
  readonly sunset: string;
  /** The path, below the base address, of the operation to use instead (RFC 5829, `successor-version`). */
  readonly successor: string;
  /** The place on the documentation page that tells about it. */
  readonly documentation: string;
}

export const DEPRECATION = 'petstore:deprecation';

/** Announces the removal of an operation: in the headers of its answers, and in the OpenAPI document. */
export function Deprecated(deprecation: Deprecation): MethodDecorator {
  return applyDecorators(
    SetMetadata(DEPRECATION, deprecation),
    ApiExtension('x-deprecated-sunset', deprecation.sunset),
  );
}
