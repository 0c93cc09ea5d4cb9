import { includesScope, parseScope } from './scope';

describe('A key with the scope', () => {
  it.each([
    ['read', ['read', 'orders:read'], ['write', 'orders:write', 'orders:cancel']],
    ['write', ['read', 'write', 'orders:read', 'orders:write', 'orders:cancel'], []],
    ['orders:read', ['orders:read'], ['read', 'write', 'orders:write', 'visits:read', 'orders']],
    ['orders:write', ['orders:read', 'orders:write'], ['read', 'write', 'orders:cancel', 'visits:read']],
    ['read orders:write', ['read', 'orders:write', 'visits:read'], ['write', 'visits:write']],
    ['admin', [], ['read', 'write', 'orders:read', 'orders:write']],
    ['', [], ['read', 'write', 'orders:read']],
  ])('%j can do exactly what its scopes include', (scope, included, others) => {
    const granted = parseScope(scope);
    expect(included.filter((required) => !includesScope(granted, required))).toEqual([]);
    expect(others.filter((required) => includesScope(granted, required))).toEqual([]);
  });
});
