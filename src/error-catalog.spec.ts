import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CATALOG } from './error-catalog';

describe('The error codes', () => {
  it('are all explained in docs/errors.md, with their status, and no other is', () => {
    const text = readFileSync(join(__dirname, '../docs/errors.md'), 'utf8');
    const documented = [...text.matchAll(/^### `(\w+)` \((\d+)\)$/gm)].map(([, code, status]) => [
      code,
      Number(status),
    ]);
    expect(documented.sort()).toEqual(ERROR_CATALOG.codes.map((code) => [code, ERROR_CATALOG.get(code).status]).sort());
  });
});
