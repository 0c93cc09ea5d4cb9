import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AccountsService } from './accounts.service';
import { Authenticator } from './authenticator';
import { KeysService } from './keys.service';

const DEMO_ACCOUNT = 'demo';

/**
 * Returns a working key for new users, of the account `demo` on plan `pro`. It is stored in the data directory, readable
 * only by its owner, and reused by later starts. For development only.
 */
export async function ensureDemoKey(app: NestFastifyApplication, dataDir: string): Promise<string> {
  const file = join(dataDir, 'demo-key');
  const savedKey = existsSync(file) ? (await readFile(file, 'utf8')).trim() : '';
  if (await isValid(app.get(Authenticator), savedKey)) {
    return savedKey;
  }
  const accounts = app.get(AccountsService);
  const account =
    (await accounts.list()).find(({ name }) => name === DEMO_ACCOUNT) ?? (await accounts.create(DEMO_ACCOUNT, 'pro'));
  const { secret } = await app.get(KeysService).create(account.id);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeFile(`${file}.new`, `${secret}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return secret;
}

async function isValid(authenticator: Authenticator, secret: string): Promise<boolean> {
  return authenticator.authenticate(secret).then(
    () => true,
    () => false,
  );
}
