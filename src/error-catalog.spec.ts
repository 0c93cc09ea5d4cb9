import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CATALOG } from './error-catalog';
import { createErrorResponses } from './shared/openapi/api-errors';

describe('The error codes', () => {
  it('are exactly those documented in docs/errors.md, with their statuses', () => {
    const text = readFileSync(join(__dirname, '../docs/errors.md'), 'utf8');
    const documented = [...text.matchAll(/^### `(\w+)` \((\d+)\)$/gm)].map(([, code, status]) => [
      code,
      Number(status),
    ]);
    expect(documented.length).toBeGreaterThan(0);
    expect(documented.sort()).toEqual(ERROR_CATALOG.codes.map((code) => [code, ERROR_CATALOG.get(code).status]).sort());
  });
  it('have statuses that the OpenAPI document describes', () => {
    const responses = Object.values(createErrorResponses(ERROR_CATALOG, ERROR_CATALOG.codes));
    expect(responses.length).toBeGreaterThan(0);
    expect(responses.every(({ description }) => description !== '')).toBe(true);
  });
});
