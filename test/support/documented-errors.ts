import type { ErrorCode } from '../../src/shared/domain/error-codes';
import type { TestResponse, TestService } from './service';

/**
 * Returns, for each error code, a function that sends a request with that error and returns the response or its body. Every module
 * exports its own from a `documented-errors.ts` in `test/e2e`.
 *
 * @param key of an account that reaches no limit
 */
export type ErrorCases = (
  service: TestService,
  key: string,
) => Readonly<Partial<Record<ErrorCode, () => Promise<TestResponse | string>>>>;
