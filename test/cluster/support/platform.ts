import { execFile } from 'node:child_process';
import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { onEnd } from '../../support/cleanup';
import { createTemporaryDirectory, findFreePort } from '../../support/process';
import { findPostgresProgram } from './servers';

const PROJECT = join(__dirname, '../../..');

export type PlatformName = 'compose' | 'kubernetes';
interface State {
  readonly replicas: Readonly<Record<string, { readonly port: string; readonly pid?: number }>>;
  readonly secret?: Readonly<Record<string, string>>;
}
export interface ScriptExit {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Two replicas on a platform whose commands `container-commands.cjs` stands in for, and the scripts of deploy/scripts. */
export class Platform {
  private constructor(
    readonly name: PlatformName,
    readonly directory: string,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  /**
   * @param urls the URLs in the Secret, of which Docker Compose uses `database-url`
   * @param env the settings of the replicas
   * @param operatorEnv the variables of the operator
   */
  static async create(
    name: PlatformName,
    urls: Readonly<Record<string, string>>,
    env: Readonly<Record<string, string>>,
    operatorEnv: Readonly<Record<string, string>> = {},
  ): Promise<Platform> {
    const { path: directory } = await createTemporaryDirectory();
    const [bin, envFile] = [join(directory, 'bin'), join(directory, 'docker/.env')];
    await cp(join(PROJECT, 'deploy/scripts'), join(directory, 'deploy/scripts'), { recursive: true });
    await cp(join(PROJECT, 'docs/sql'), join(directory, 'docs/sql'), { recursive: true });
    await Promise.all([mkdir(bin), mkdir(dirname(envFile))]);
    for (const program of ['docker', 'kubectl']) {
      const script = `#!/bin/sh\nexec ${process.execPath} ${join(__dirname, 'container-commands.cjs')} ${program} "$@"\n`;
      await writeFile(join(bin, program), script);
      await chmod(join(bin, program), 0o755);
    }
    await writeFile(envFile, `POSTGRES_PASSWORD=unused\nDATABASE_URL=${urls['database-url'] ?? ''}\n`);
    const replicas = { 'petstore-1': { port: await findFreePort() }, 'petstore-2': { port: await findFreePort() } };
    const state = { env, envFile, replicas, ...(name === 'kubernetes' && { secret: urls }) };
    await writeFile(join(directory, 'state.json'), JSON.stringify(state));
    const path = [bin, dirname(findPostgresProgram('pg_restore')), process.env.PATH].join(delimiter);
    const platform = new Platform(name, directory, { PATH: path, PLATFORM_STATE: directory, ...operatorEnv });
    onEnd(() => platform.killReplicas());
    return platform;
  }

  /** Runs a script. @param line its name and arguments; the last argument, if it contains spaces, in quotes */
  run(line: string, env: Readonly<Record<string, string>> = {}, input = ''): Promise<ScriptExit> {
    const [script = '', ...args] = [...line.matchAll(/'(.*)'|\S+/g)].map(([word, quoted]) => quoted ?? word);
    const options = this.name === 'kubernetes' ? ['--namespace', 'test'] : [];
    return new Promise((resolve) => {
      const child = execFile(
        join(this.directory, 'deploy/scripts', script),
        [...options, ...args],
        { cwd: this.directory, env: { ...this.env, ...env } },
        (error, stdout, stderr) => {
          resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
        },
      );
      child.stdin?.end(input);
    });
  }

  /** Starts the replicas. */
  async start(): Promise<void> {
    await promisify(execFile)(join(this.directory, 'bin/kubectl'), ['scale', 'deployment/petstore', '--replicas=2'], {
      env: this.env,
    });
  }

  async readState(): Promise<State> {
    return JSON.parse(await readFile(join(this.directory, 'state.json'), 'utf8')) as State;
  }

  /** Reads `DATABASE_URL` in docker/.env. */
  async readUrl(): Promise<string | undefined> {
    return /^DATABASE_URL=.*$/m.exec(await readFile(join(this.directory, 'docker/.env'), 'utf8'))?.[0];
  }

  async readPort(replica = 'petstore-1'): Promise<number> {
    return Number((await this.readState()).replicas[replica]?.port);
  }

  private async killReplicas(): Promise<void> {
    Object.values((await this.readState()).replicas).forEach(({ pid = 0 }) => {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has exited.
      }
    });
  }
}
