import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { onEnd } from '../support/cleanup';
import { createTemporaryDirectory, findFreePort } from '../support/process';
import { author, dependencies, license, optionalDependencies, version } from '../../package.json';
import { buildImage, type Image } from './dockerfile';
import { eventually } from '../cluster/support/replica';
import { Server } from '../cluster/support/servers';

const PROJECT = join(__dirname, '../..');
const EXCLUDED = ['.git', 'coverage', 'dist', 'node_modules'];
/** Files that a working copy may have and an image must not contain. */
const SECRETS = ['.env', '.git/config', '.npmrc', '.data/demo-key', 'docker/.env', 'node_modules/a/b.js', 'tls.pem'];

const run = promisify(execFile);

describe('The image', () => {
  let directory: string;
  let image: Image;
  let app: string;
  let env: Record<string, string>;

  beforeAll(async () => {
    ({ path: directory } = await createTemporaryDirectory());
    const context = join(directory, 'context');
    await cp(PROJECT, context, {
      recursive: true,
      filter: (path) => !EXCLUDED.includes(basename(path)),
    });
    for (const path of SECRETS) {
      await mkdir(dirname(join(context, path)), { recursive: true });
      await writeFile(join(context, path), '# planted-secret');
    }
    image = await buildImage(join(PROJECT, 'docker/Dockerfile'), context, directory);
    app = join(image.root, image.workdir);
    const database = await Server.startPostgres();
    env = {
      PATH: [join(image.root, 'usr/local/bin'), process.env.PATH].join(delimiter),
      ...image.env,
      PORT: await findFreePort(),
      DATABASE_URL: `${database.url}/postgres`,
    };
    // Run the image as another user than the one that built it, or at least without write permission.
    await chmod(directory, 0o755);
    onEnd(() => run('chmod', ['-R', 'u+w', directory]));
    await run('chmod', ['-R', 'a-w', image.root]);
  }, 300_000);

  const start = ([program = '', ...args]: readonly string[], changes: Record<string, string> = {}): ChildProcess => {
    const child = spawn(program, args, {
      cwd: app,
      env: { ...env, ...changes },
      ...(process.getuid?.() === 0 && { uid: 65_534, gid: 65_534 }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onEnd(() => child.kill('SIGKILL'));
    return child;
  };

  const readOutput = async (command: readonly string[]): Promise<string> => {
    const child = start(command);
    let output = '';
    child.stdout?.on('data', (data: Buffer) => (output += data.toString()));
    await once(child, 'close');
    return output;
  };

  it('uses a pinned Node.js version, and runs as an unprivileged user', () => {
    expect(image.base).toMatch(/^node:\d+\.\d+\.\d+-bookworm-slim$/);
    expect(image.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  });

  it('has Open Container Initiative labels with the version and license of the package', () => {
    const prefix = 'org.opencontainers.image.';
    expect(image.labels).toEqual({
      [`${prefix}title`]: 'petstore',
      [`${prefix}description`]: expect.any(String) as string,
      [`${prefix}version`]: version,
      [`${prefix}licenses`]: license,
      [`${prefix}authors`]: author,
    });
  });

  it('has a prepare script that does nothing without development dependencies', async () => {
    await expect(run('npm', ['run', 'prepare'], { cwd: app })).resolves.toBeDefined();
  });

  it('adds at most 100 MB to its base image', async () => {
    const entries = await readdir(image.root, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const sizes = await Promise.all(files.map(async (path) => (await stat(path)).size));
    // A layer is an archive, with a header and blocks of 512 bytes for each file.
    const bytes = sizes.reduce((sum, size) => sum + 512 + Math.ceil(size / 512) * 512, 0);
    process.stdout.write(`The layers of the image: ${Math.round(bytes / 1e6)} MB.\n`);
    expect(bytes / 1e6).toBeLessThanOrEqual(100);
  });

  it('lists exactly the installed packages in its software bill of materials', async () => {
    const sbom = JSON.parse(await readFile(join(app, 'sbom.cdx.json'), 'utf8')) as {
      readonly bomFormat: string;
      readonly components: readonly { readonly name: string; readonly version: string }[];
    };
    const lock = JSON.parse(await readFile(join(app, 'node_modules/.package-lock.json'), 'utf8')) as {
      readonly packages: Readonly<Record<string, { readonly version: string }>>;
    };
    const installed = Object.entries(lock.packages).map(
      ([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`,
    );
    expect(sbom.bomFormat).toBe('CycloneDX');
    expect(new Set(sbom.components.map(({ name, version }) => `${name}@${version}`))).toEqual(new Set(installed));
  });

  it('keeps the licenses of packages, but no source maps, type declarations or documentation', async () => {
    const files = await readdir(join(app, 'node_modules'), { recursive: true });
    expect(files.filter((path) => /\.(map|d\.[cm]?ts|md)$/.test(path))).toEqual([]);
    expect(files).toEqual(expect.arrayContaining(['fastify/LICENSE', 'rxjs/LICENSE.txt']));
  });

  it('contains only the built service and its dependencies', async () => {
    expect((await readdir(app)).sort()).toEqual(['dist', 'node_modules', 'package.json', 'sbom.cdx.json']);
    expect((await readdir(image.root)).sort()).toEqual(['app', 'usr']);
    const filterInstalled = (names: readonly string[]) =>
      names.filter((name) => existsSync(join(app, 'node_modules', name, 'package.json')));
    expect(filterInstalled(Object.keys(dependencies))).toEqual(Object.keys(dependencies));
    expect(filterInstalled(Object.keys(optionalDependencies))).toEqual([]);
    expect(filterInstalled(['@nestjs/cli', '@swc/core', 'eslint', 'jest', 'prettier', 'typescript'])).toEqual([]);
    const files = await readdir(join(app, 'dist'), { recursive: true });
    expect(files.filter((path) => path.includes('.spec.') || path.includes('embedded-template/'))).toEqual([]);
  });

  it('contains no secret from the working copy', async () => {
    // This searches all stages. grep exits with 1 if it finds nothing.
    const search = run('grep', ['-rl', '--exclude-dir=context', 'planted-secret', directory]);
    await expect(search).rejects.toMatchObject({ code: 1, stdout: '' });
  });

  it('serves on a read-only file system, reports its health, and exits with 0 on SIGTERM', async () => {
    const server = start(image.command);
    const ended = once(server, 'exit');
    await eventually(30_000, async () => {
      expect(server.exitCode).toBeNull();
      const [code] = (await once(start(image.healthcheck), 'exit')) as [number];
      return code === 0;
    });
    await readOutput(['petstore', 'accounts', 'create', '--name', 'Acme', '--plan', 'pro']);
    const issued = await readOutput(['petstore', 'keys', 'create', '1', '--json']);
    const { key } = JSON.parse(issued) as { key: string };
    const response = await fetch(`http://127.0.0.1:${env.PORT ?? ''}/v1/pets`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(key).toMatch(/^pets_live_/);
    expect([response.status, await response.text()]).toEqual([200, '[]']);
    server.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  it('requires DATABASE_URL in development, because it has no embedded database', async () => {
    const child = start(image.command, { APP_ENV: 'development', DATABASE_URL: '' });
    let output = '';
    child.stderr?.on('data', (data: Buffer) => (output += data.toString()));
    const [code] = (await once(child, 'close')) as [number];
    expect(output).toMatch(/^The embedded database \(.+\) is not installed; .+ Set DATABASE_URL .+\.\n$/);
    expect(code).toBe(1);
  });

  it('reports when it is unhealthy', async () => {
    const [code] = (await once(start(image.healthcheck), 'exit')) as [number];
    expect(code).toBe(1);
  });
});
