import {
  ApiKey,
  computeRotationEnd,
  InvalidKeyError,
  isKeyValid,
  createApiKey,
  getKeyState,
  unbanKey,
  KeyStateError,
} from './api-key';

const NOW = Date.UTC(2026, 10, 21, 12);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const inMs = (ms: number) => new Date(NOW + ms);
/** Creates key 3 of account 2. */
const key = ({ expiresAt = null, revokedAt = null, replacedBy = null }: Partial<ApiKey> = {}) =>
  new ApiKey(3n, 2n, Buffer.alloc(32), 'abcd', 'write', new Date(0), expiresAt, revokedAt, replacedBy, null, 0);

describe('An API key', () => {
  it.each<[string, ApiKey, ReturnType<typeof getKeyState>, boolean]>([
    ['without an expiry', key(), { name: 'active' }, true],
    ['with an expiry', key({ expiresAt: inMs(1) }), { name: 'expiring', until: inMs(1) }, true],
    ['at its expiry', key({ expiresAt: inMs(0) }), { name: 'expired' }, false],
    ['in rotation', key({ expiresAt: inMs(1), replacedBy: 4n }), { name: 'rotating', until: inMs(1) }, true],
    ['at the end of its rotation', key({ expiresAt: inMs(0), replacedBy: 4n }), { name: 'expired' }, false],
    ['that was revoked', key({ revokedAt: inMs(-1) }), { name: 'revoked' }, false],
    [
      'that was revoked in rotation',
      key({ expiresAt: inMs(1), revokedAt: inMs(-1), replacedBy: 4n }),
      { name: 'revoked' },
      false,
    ],
  ])('%s has the expected state', (_, each, state, valid) => {
    expect(getKeyState(each, NOW)).toEqual(state);
    expect(isKeyValid(each, NOW)).toBe(valid);
  });

  it('cannot be created with an expiry in the past', () => {
    const secret = { hash: Buffer.alloc(32), start: 'abcd' };
    expect(createApiKey(2n, secret, 'read', inMs(1), NOW)).toEqual({
      ...{ accountId: 2n, ...secret, scope: 'read', createdAt: inMs(0), expiresAt: inMs(1) },
    });
    expect(() => createApiKey(2n, secret, 'read', inMs(0), NOW)).toThrow(
      new InvalidKeyError('The expiry must be in the future; 2026-11-21T12:00:00.000Z is not.'),
    );
  });

  it.each([
    ['immediately', {}, 0, 0],
    ['after a day', {}, DAY_MS, DAY_MS],
    ['after 7 days', {}, 7 * DAY_MS, 7 * DAY_MS],
    ['at its own expiry if that is earlier', { expiresAt: inMs(HOUR_MS) }, DAY_MS, HOUR_MS],
    ['before its own expiry', { expiresAt: inMs(DAY_MS) }, HOUR_MS, HOUR_MS],
  ])('that is rotated expires %s', (_, properties, graceMs, endMs) => {
    expect(computeRotationEnd(key(properties), graceMs, NOW)).toEqual(inMs(endMs));
  });

  it.each([-1, 7 * DAY_MS + 1])('cannot be rotated with a grace period of %d ms', (graceMs) => {
    expect(() => computeRotationEnd(key(), graceMs, NOW)).toThrow(
      new InvalidKeyError('The grace period must be from 0 to 7 days.'),
    );
  });

  it.each<[string, Partial<ApiKey>]>([
    ['active', {}],
    ['expiring', { expiresAt: inMs(1) }],
    ['rotating', { expiresAt: inMs(1), replacedBy: 4n }],
  ])('that is %s can be unbanned, which changes only its unban count', (_, properties) => {
    const once = unbanKey(key(properties), NOW);
    expect(once).toEqual({ ...key(properties), unbanCount: 1 });
    expect(unbanKey(once, NOW).unbanCount).toBe(2);
  });

  it.each<[string, Partial<ApiKey>]>([
    ['revoked', { revokedAt: inMs(-1) }],
    ['expired', { expiresAt: inMs(0) }],
  ])('cannot be unbanned when it is %s', (state, properties) => {
    expect(() => unbanKey(key(properties), NOW)).toThrow(
      new KeyStateError(`Key 3 is ${state}, so it cannot be unbanned. Create a key for account 2 instead.`),
    );
  });
});
