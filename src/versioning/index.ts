export { Deprecated } from './deprecated.decorator';
export { type Deprecation, DEPRECATION } from './deprecation.interceptor';
export { Stability } from './stability.decorator';
