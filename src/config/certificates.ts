import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { getErrorMessage } from '../shared/domain/error-message';
import { InvalidSettingsError, readSettingFile } from './settings';

/** @throws InvalidSettingsError when the file cannot be read or is not a certificate */
export function readCertificate(setting: string, path: string): string {
  const text = readSettingFile(setting, path);
  try {
    new X509Certificate(text);
  } catch {
    throw new InvalidSettingsError(`${setting} names a file that is not a PEM certificate.`);
  }
  return text;
}

/**
 * Reads a client certificate and its private key; returns an empty object if neither is set.
 * @param prefix of the names of both settings
 * @throws InvalidSettingsError when one of them is missing, cannot be read, or does not fit the other
 */
export function readClientCertificate(
  prefix: 'DATABASE' | 'REDIS',
  certPath: string | undefined,
  keyPath: string | undefined,
): { readonly cert?: string; readonly key?: string } {
  const [certSetting, keySetting] = [`${prefix}_CERT_FILE`, `${prefix}_KEY_FILE`];
  if (certPath === undefined && keyPath === undefined) {
    return {};
  }
  if (certPath === undefined || keyPath === undefined) {
    throw new InvalidSettingsError(`${certSetting} and ${keySetting} must be set together.`);
  }
  const pair = { cert: readCertificate(certSetting, certPath), key: readSettingFile(keySetting, keyPath) };
  try {
    createSecureContext(pair);
  } catch (error) {
    throw new InvalidSettingsError(
      `${keySetting} must name the unencrypted PEM private key of the certificate in ${certSetting} (${getErrorMessage(error)}).`,
    );
  }
  return pair;
}
