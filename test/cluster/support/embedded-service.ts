import { join } from 'node:path';
import { createTemporaryDirectory, findFreePort, Program, startServer } from '../../support/process';

/** Prepares a service on the embedded database, with its own directory and port. Tests may change its settings in `env`. */
export async function createEmbeddedService() {
  const { path: directory } = await createTemporaryDirectory();
  const env = { DATA_DIR: join(directory, 'data'), PORT: await findFreePort() };
  const call = (key: string, path = '', init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${env.PORT}/v1/pets${path}`, {
      ...init,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
  return {
    directory,
    env,
    start: (changes = {}) => startServer({ ...env, ...changes }),
    run: (changes = {}) => new Program('main.js', [], { ...env, ...changes }),
    list: call,
    add: (name: string, key: string) =>
      call(key, '', { method: 'POST', body: JSON.stringify({ name, categoryId: 1 }) }),
  };
}
