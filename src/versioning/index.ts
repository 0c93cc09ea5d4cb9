export { Deprecated } from './deprecated.decorator';
export { type Deprecation, DEPRECATION_METADATA } from './deprecation.interceptor';
export { Stability } from './stability.decorator';
