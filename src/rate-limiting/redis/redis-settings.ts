import { matching } from '../../config/formats';
import { declareSettings } from '../../config/settings';

const PEM_FILE = matching(/./, 'be the path of a PEM file');

export const REDIS_SETTINGS = declareSettings({
  /** What every key begins with. Braces would be Redis Cluster's hash tag, and `*`, `?` and brackets are patterns of an ACL. */
  keyPrefix: [
    'REDIS_KEY_PREFIX',
    matching(/^[\w.:-]{1,64}$/, 'be 1 to 64 letters, digits, dots, colons, underscores or hyphens'),
    undefined,
  ],
  /** The certificates of the authorities that Redis's certificate may come from, in place of the well-known ones. */
  caFile: ['REDIS_CA_FILE', PEM_FILE, undefined],
  /** The certificate by which Redis knows the service, and its private key. */
  certFile: ['REDIS_CERT_FILE', PEM_FILE, undefined],
  keyFile: ['REDIS_KEY_FILE', PEM_FILE, undefined],
});
