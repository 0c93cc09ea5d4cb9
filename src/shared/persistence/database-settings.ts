import { matching } from '../../config/formats';
import { declareSettings } from '../../config/settings';

const path = matching(/./, 'be the path of a file');

/** How the PostgreSQL server of `DATABASE_URL` is used. */
export const DATABASE_SETTINGS = declareSettings({
  /** The certificate authorities that a server's certificate must come from. */
  caFile: ['DATABASE_CA_FILE', path, undefined],
  /** The certificate that this process presents to the server, and its private key. */
  certFile: ['DATABASE_CERT_FILE', path, undefined],
  keyFile: ['DATABASE_KEY_FILE', path, undefined],
});
