import { matching, pemFile } from '../../config/formats';
import { declareSettings } from '../../config/settings';

export const REDIS_SETTINGS = declareSettings({
  /** The prefix of every key. Braces would be read as a Redis Cluster hash tag; `*`, `?` and brackets as an ACL pattern. */
  keyPrefix: [
    'REDIS_KEY_PREFIX',
    matching(/^[\w.:-]{1,64}$/, 'be 1 to 64 letters, digits, dots, colons, underscores or hyphens'),
    undefined,
  ],
  /** The certificate authorities trusted for Redis, instead of the ones that Node.js trusts. */
  caFile: ['REDIS_CA_FILE', pemFile(), undefined],
  /** The client certificate that the service presents to Redis, and its private key. */
  certFile: ['REDIS_CERT_FILE', pemFile(), undefined],
  keyFile: ['REDIS_KEY_FILE', pemFile(), undefined],
});
