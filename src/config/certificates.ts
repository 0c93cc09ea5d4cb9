import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { getErrorMessage } from '../shared/domain/error-message';
import { InvalidSettingsError, readSettingFile, type SettingFile } from './settings';

/** @throws InvalidSettingsError when the file cannot be read or is not a certificate */
export function readCertificate(file: SettingFile): string {
  const text = readSettingFile(file);
  try {
    new X509Certificate(text);
  } catch {
    throw new InvalidSettingsError(`${file.label} names a file that is not a PEM certificate.`);
  }
  return text;
}

/**
 * Reads a client certificate and its private key; returns an empty object if neither is set.
 * @param settingNames the names of both settings
 * @throws InvalidSettingsError when one of them is missing, cannot be read, or does not fit the other
 */
export function readClientCertificate(
  certFile: SettingFile | undefined,
  keyFile: SettingFile | undefined,
  settingNames: string,
): { readonly cert?: string; readonly key?: string } {
  if (certFile === undefined && keyFile === undefined) {
    return {};
  }
  if (certFile === undefined || keyFile === undefined) {
    throw new InvalidSettingsError(`${settingNames} must be set together.`);
  }
  const pair = { cert: readCertificate(certFile), key: readSettingFile(keyFile) };
  try {
    createSecureContext(pair);
  } catch (error) {
    throw new InvalidSettingsError(
      `${keyFile.label} must name the unencrypted PEM private key of the certificate in ${certFile.label} (${getErrorMessage(error)}).`,
    );
  }
  return pair;
}
