import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { errorMessage } from '../shared/domain/error-message';
import { InvalidSettingsError } from './settings';

/** A PEM file, and what names it: a setting, or the parameter of a URL that overrides it. */
export interface PemFile {
  readonly label: string;
  readonly path: string;
}

/** @throws InvalidSettingsError when the file cannot be read or is not a certificate */
export function readCertificate(file: PemFile): string {
  const text = readText(file);
  try {
    new X509Certificate(text);
  } catch {
    throw new InvalidSettingsError(`${file.label} names a file that is not a PEM certificate.`);
  }
  return text;
}

/**
 * Reads a client certificate and its private key; without either, there is none.
 * @param settings the names of both settings
 * @throws InvalidSettingsError when one of them is missing, cannot be read, or does not fit the other
 */
export function readClientCertificate(
  certFile: PemFile | undefined,
  keyFile: PemFile | undefined,
  settings: string,
): { readonly cert?: string; readonly key?: string } {
  if (certFile === undefined && keyFile === undefined) {
    return {};
  }
  if (certFile === undefined || keyFile === undefined) {
    throw new InvalidSettingsError(`${settings} must be set together.`);
  }
  const pair = { cert: readCertificate(certFile), key: readText(keyFile) };
  try {
    createSecureContext(pair);
  } catch (error) {
    throw new InvalidSettingsError(
      `${keyFile.label} must name the unencrypted PEM private key of the certificate in ${certFile.label} (${errorMessage(error)}).`,
    );
  }
  return pair;
}

function readText({ label, path }: PemFile): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new InvalidSettingsError(
      `${label} names a file that cannot be read (${(error as NodeJS.ErrnoException).code}).`,
    );
  }
}
