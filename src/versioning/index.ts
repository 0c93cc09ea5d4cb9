export { Deprecated } from './deprecated.decorator';
export { Stability } from './stability.decorator';
