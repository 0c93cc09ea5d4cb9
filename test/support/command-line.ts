import 'reflect-metadata';
import { runCli } from '../../src/cli/petstore';
import type { Exit } from './process';
import { ADMIN_DATABASE_URL } from './worker-database';

/** Runs a command in the test's own process, on the database of this worker. */
export async function runCommand(line: string, env: Readonly<Record<string, string>> = {}): Promise<Exit> {
  let [stdout, stderr] = ['', ''];
  const code = await runCli(
    line.split(' '),
    { DATABASE_URL: ADMIN_DATABASE_URL, ...env },
    { write: (text) => (stdout += text), writeError: (text) => (stderr += text) },
  );
  return { code, stdout, stderr };
}

/** Runs a command that must succeed. @returns the JSON that it prints */
export async function readJson<T>(line: string, env?: Readonly<Record<string, string>>): Promise<T> {
  const { code, stdout, stderr } = await runCommand(`${line} --json`, env);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as T;
}
