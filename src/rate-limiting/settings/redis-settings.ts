import { BRAND } from '../../config/brand';
import { matching, pemFile } from '../../config/formats';
import { declareSettings } from '../../config/settings';

export const REDIS_SETTINGS = declareSettings({
  /** Braces would be read as a Redis Cluster hash tag; `*`, `?` and brackets as an ACL pattern. */
  keyPrefix: [
    'REDIS_KEY_PREFIX',
    matching(/^[\w.:-]{1,64}$/, 'be 1 to 64 letters, digits, dots, colons, underscores or hyphens'),
    undefined,
    `prefix of all keys in Redis: letters, digits, \`.\`, \`:\`, \`_\` or \`-\`; by default \`${BRAND.name}:\`, \`APP_ENV\` and \`:\``,
  ],
  caFile: [
    'REDIS_CA_FILE',
    pemFile(),
    undefined,
    'PEM file with the certificate authorities for Redis ([TLS](operating.md#tls-to-redis)); by default those of Node.js',
  ],
  certFile: ['REDIS_CERT_FILE', pemFile(), undefined, 'PEM file with the client certificate for Redis'],
  keyFile: ['REDIS_KEY_FILE', pemFile(), undefined, 'PEM file with its private key'],
});
