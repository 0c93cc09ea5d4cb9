import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/process';
import { Server } from './servers';

const CONFIGURATION = join(__dirname, '../../../docker/gateway/nginx.conf');

/** nginx with the gateway's own configuration, in front of what listens on the ports; its files are in the directory. */
export async function startGateway(ports: readonly number[], directory?: string): Promise<Server> {
  const [home, port, configuration] = await Promise.all([
    directory ?? mkdtemp(join(tmpdir(), 'petstore-gateway-')),
    freePort(),
    readFile(CONFIGURATION, 'utf8'),
  ]);
  // Where nginx starts as root, its workers run as another user.
  await chmod(home, 0o755);
  // Only what cannot be the same outside a container. Older versions of nginx cannot look a server up again.
  const replacements = [
    ['listen 8080;', `listen 127.0.0.1:${port};`],
    [/server petstore:3000 resolve (.*;)/, ports.map((replica) => `server 127.0.0.1:${replica} $1`).join('\n    ')],
    [/ \/tmp\//g, ` ${home}/`],
    ['/dev/stdout', join(home, 'access.log')],
    [/\/dev\/stderr/g, join(home, 'error.log')],
  ] as const;
  const adapted = replacements.reduce((text, [original, replacement]) => {
    if (text.search(original) === -1) {
      throw new Error(`${CONFIGURATION} has no ${String(original)} any more: correct its replacement here.`);
    }
    return text.replace(original, replacement);
  }, configuration);
  const file = join(home, 'nginx.conf');
  await writeFile(file, adapted);
  return Server.nginx(port, home, file);
}
