import { join } from 'node:path';
import { createTemporaryDirectory, findFreePort, Program, startServer } from '../../support/process';

/** Prepares a service on the embedded database, with its own directory and port. Tests may change its settings in `env`. */
export async function createEmbeddedService() {
  const directory = await createTemporaryDirectory();
  const env = { DATA_DIR: join(directory.path, 'data'), PORT: await findFreePort() };
  const programs: Program[] = [];
  const track = <T extends Program>(program: T): T => {
    programs.push(program);
    return program;
  };
  const call = (key: string, path = '', init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${env.PORT}/v1/pets${path}`, {
      ...init,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    });
  return {
    directory: directory.path,
    env,
    start: async (changes = {}) => track(await startServer({ ...env, ...changes })),
    run: (changes = {}) => track(new Program('main.js', [], { ...env, ...changes })),
    list: call,
    add: (name: string, key: string) =>
      call(key, '', { method: 'POST', body: JSON.stringify({ name, categoryId: 1 }) }),
    remove: async () => {
      await Promise.all(programs.map((program) => program.kill('SIGKILL')));
      await directory.remove();
    },
  };
}
