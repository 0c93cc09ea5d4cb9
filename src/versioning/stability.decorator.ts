import { ApiExtension } from '@nestjs/swagger';

/** Marks an operation that is not stable yet; docs/versioning.md says what each level promises. */
export function Stability(level: 'experimental' | 'beta'): MethodDecorator {
  return ApiExtension('x-stability', level);
}
