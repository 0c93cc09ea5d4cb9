/** What distinguishes this service from others. `npm run rename` changes it, here and in everything that cannot import this file. */
export const BRAND = {
  /** The name of the command line, the service in logs and traces, the realm, and the start of Redis keys. */
  name: 'petstore',
  /** The name that people read. */
  title: 'Pet store',
  /** How API keys start, before `_live_` or `_test_`. */
  keyPrefix: 'pets',
  supportUrl: 'https://petstore.example.com/support',
  supportEmail: 'support@petstore.example.com',
} as const;

/** The name where hyphens are not allowed: the start of metrics, and the log field with the service's own fields. */
export const IDENTIFIER = BRAND.name.replaceAll('-', '_');

/** The start of a production key, and of a key of any other environment. */
export const [LIVE_KEY_PREFIX, TEST_KEY_PREFIX] = [`${BRAND.keyPrefix}_live_`, `${BRAND.keyPrefix}_test_`] as const;

/** Matches the start of a key, as the source of a regular expression. */
export const KEY_PREFIX_PATTERN = `${BRAND.keyPrefix}_(?:live|test)_`;
