import { matching } from '../../config/formats';
import { declareSettings } from '../../config/settings';

const PEM_FILE = matching(/./, 'be the path of a PEM file');

export const REDIS_SETTINGS = declareSettings({
  /** The prefix of every key. Braces would be read as a Redis Cluster hash tag; `*`, `?` and brackets as an ACL pattern. */
  keyPrefix: [
    'REDIS_KEY_PREFIX',
    matching(/^[\w.:-]{1,64}$/, 'be 1 to 64 letters, digits, dots, colons, underscores or hyphens'),
    undefined,
  ],
  /** The certificate authorities trusted for Redis, in place of those that Node.js trusts. */
  caFile: ['REDIS_CA_FILE', PEM_FILE, undefined],
  /** The client certificate that the service presents to Redis, and its private key. */
  certFile: ['REDIS_CERT_FILE', PEM_FILE, undefined],
  keyFile: ['REDIS_KEY_FILE', PEM_FILE, undefined],
});
