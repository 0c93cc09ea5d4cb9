import { ERROR_CATALOG } from './error-catalog';
import { createErrorResponses } from './shared/openapi/api-errors';

describe('The error codes', () => {
  it('have statuses that the OpenAPI document describes', () => {
    const responses = Object.values(createErrorResponses(ERROR_CATALOG, ERROR_CATALOG.codes));
    expect(responses.length).toBeGreaterThan(0);
    expect(responses.every(({ description }) => description !== '')).toBe(true);
  });
});
