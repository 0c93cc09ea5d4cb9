import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporaryDirectory } from '../../support/process';

/** A certificate and its private key, in PEM files. */
export interface Certificate {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority for one test. */
export class CertificateAuthority {
  private constructor(
    private readonly directory: string,
    private readonly root: Certificate,
  ) {}

  static async create(): Promise<CertificateAuthority> {
    const { path } = await createTemporaryDirectory();
    return new CertificateAuthority(path, makeCertificate(path, 'root', []));
  }

  /** The path of the root certificate. */
  get file(): string {
    return this.root.certFile;
  }

  get certificate(): string {
    return this.root.cert;
  }

  /** @param names the subject alternative names, such as `DNS:localhost` */
  issue(commonName: string, names: readonly string[] = []): Certificate {
    const alternatives = names.length === 0 ? [] : ['-addext', `subjectAltName=${names.join(',')}`];
    const signer = ['-CA', this.root.certFile, '-CAkey', this.root.keyFile];
    return makeCertificate(this.directory, commonName, [
      ...signer,
      ...alternatives,
      '-addext',
      'basicConstraints=critical,CA:FALSE',
    ]);
  }
}

function makeCertificate(directory: string, name: string, options: readonly string[]): Certificate {
  const [certFile, keyFile] = [join(directory, `${name}.crt`), join(directory, `${name}.key`)];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile];
  const args = ['req', '-x509', ...key, '-out', certFile, '-days', '1', '-subj', `/CN=${name}`, ...options];
  execFileSync('openssl', args, { stdio: 'ignore' });
  return { certFile, keyFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
}
