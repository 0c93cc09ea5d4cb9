import { ApiExtension } from '@nestjs/swagger';

/** Marks an operation that is not yet stable; docs/api.md defines what each level promises. */
export function Stability(level: 'experimental' | 'beta'): MethodDecorator {
  return ApiExtension('x-stability', level);
}
