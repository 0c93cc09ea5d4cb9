import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTemporaryDirectory, findFreePort } from '../../support/process';
import { Server } from './servers';

const CONFIGURATION = join(__dirname, '../../../docker/gateway/nginx.conf');

/** Starts nginx with the gateway's own configuration in front of the given ports. Its logs are in its directory. */
export async function startGateway(ports: readonly number[]): Promise<Server> {
  const [{ path: home }, port, configuration] = await Promise.all([
    createTemporaryDirectory(),
    findFreePort(),
    readFile(CONFIGURATION, 'utf8'),
  ]);
  // When nginx starts as root, its workers run as another user.
  await chmod(home, 0o755);
  // Outside a container, only these lines must differ. Older versions of nginx do not support `resolve`.
  const replacements = [
    ['listen 8080;', `listen 127.0.0.1:${port};`],
    [/server petstore:3000 resolve (.*;)/, ports.map((replica) => `server 127.0.0.1:${replica} $1`).join('\n    ')],
    [/ \/tmp\//g, ` ${home}/`],
    ['/dev/stdout', join(home, 'access.log')],
    [/\/dev\/stderr/g, join(home, 'error.log')],
  ] as const;
  const adapted = replacements.reduce((text, [original, replacement]) => {
    if (text.search(original) === -1) {
      throw new Error(`${CONFIGURATION} no longer contains ${String(original)}: update its replacement here.`);
    }
    return text.replace(original, replacement);
  }, configuration);
  const file = join(home, 'nginx.conf');
  await writeFile(file, adapted);
  return Server.startNginx(port, home, file);
}

/** Starts HAProxy without retries. It checks readiness, unless an admin socket is given to set the state of each replica. */
export async function startHaproxy(ports: readonly number[], socket?: string): Promise<Server> {
  const port = await findFreePort();
  const servers = ports.map((replica) => `server replica-${replica} 127.0.0.1:${replica}`);
  return Server.startHaproxy(
    port,
    `
global
  ${socket === undefined ? '' : `stats socket ${socket} level admin`}
defaults
  mode http
  timeout connect 1s
  timeout client 10s
  timeout server 10s
  retries 0
frontend gateway
  bind 127.0.0.1:${port}
  http-request set-header X-Forwarded-For %[src]
  default_backend replicas
backend replicas
  ${socket === undefined ? 'option httpchk GET /readyz\n  default-server check inter 200ms fall 1 rise 1' : ''}
  ${servers.join('\n  ')}
`,
  );
}

/** Starts Caddy, which checks readiness and does not retry requests. */
export async function startCaddy(ports: readonly number[]): Promise<Server> {
  const port = await findFreePort();
  return Server.startCaddy(
    port,
    `
{
  admin off
  auto_https off
}
http://127.0.0.1:${port} {
  reverse_proxy ${ports.map((replica) => `127.0.0.1:${replica}`).join(' ')} {
    lb_policy round_robin
    health_uri /readyz
    health_interval 200ms
    header_up X-Forwarded-For {remote_host}
  }
}
`,
  );
}
