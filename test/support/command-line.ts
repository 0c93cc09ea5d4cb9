import 'reflect-metadata';
import { petstore } from '../../src/cli/petstore';
import type { Exit } from './process';
import { ADMIN_DATABASE_URL } from './worker-database';

/** The command line in the test's own process, on the database of this worker. */
export async function command(line: string, env: Readonly<Record<string, string>> = {}): Promise<Exit> {
  let [stdout, stderr] = ['', ''];
  const code = await petstore(
    line.split(' '),
    { DATABASE_URL: ADMIN_DATABASE_URL, ...env },
    { write: (text) => (stdout += text), writeError: (text) => (stderr += text) },
  );
  return { code, stdout, stderr };
}

/** The JSON that a successful command prints. */
export async function json<T>(line: string, env?: Readonly<Record<string, string>>): Promise<T> {
  const { code, stdout, stderr } = await command(`${line} --json`, env);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as T;
}
