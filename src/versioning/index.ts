export { Deprecated } from './deprecated.decorator';
export { DeprecationInterceptor } from './deprecation.interceptor';
export { Stability } from './stability.decorator';
