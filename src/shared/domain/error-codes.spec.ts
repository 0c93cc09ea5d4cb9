import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERRORS } from './error-codes';

describe('The error codes', () => {
  it('are all explained in docs/errors.md, with their status, and no other is', () => {
    const text = readFileSync(join(__dirname, '../../../docs/errors.md'), 'utf8');
    const documented = [...text.matchAll(/^### `(\w+)` \((\d+)\)$/gm)].map(([, code, status]) => [
      code,
      Number(status),
    ]);
    expect(documented.sort()).toEqual(
      Object.entries(ERRORS)
        .map(([code, [status]]) => [code, status])
        .sort(),
    );
  });
});
