import type { ErrorCode } from '../../src/shared/domain/error-codes';
import type { TestResponse, TestService } from './service';

/**
 * For each code, a request that returns it, as its response or its body. Each `documented-errors.ts` below `test/e2e`
 * exports one: a module brings its own.
 *
 * @param key of an account that reaches no limit
 */
export type ErrorCases = (
  service: TestService,
  key: string,
) => Readonly<Partial<Record<ErrorCode, () => Promise<TestResponse | string>>>>;
