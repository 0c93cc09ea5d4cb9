import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import ignore from '@balena/dockerignore';
import { createNpmEnvironment } from '../support/process';

const run = promisify(execFile);

/** The result of a stage of a Dockerfile, with a directory as the root of its file system. */
export interface Image {
  readonly root: string;
  /** The image in FROM. */
  readonly base: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly user: string;
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
}

/**
 * Executes a Dockerfile without Docker, with the programs of this machine instead of a base image. It supports what the project's
 * Dockerfile uses, and throws an error for anything else.
 */
export async function buildImage(dockerfile: string, context: string, directory: string): Promise<Image> {
  const builder = new Builder(context, await listContext(context), directory);
  for (const [name = '', text = ''] of parseInstructions(await readFile(dockerfile, 'utf8'))) {
    await builder.execute(name, text);
  }
  return builder.image;
}

/** Splits a Dockerfile into instructions. Comments are removed and continued lines joined. */
function parseInstructions(dockerfile: string): string[][] {
  const lines = dockerfile
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n');
  return lines.flatMap((line) => [...line.matchAll(/^(\S+) +(.+)$/g)].map(([, name = '', text = '']) => [name, text]));
}

/** Lists the files of the context that .dockerignore does not exclude. */
async function listContext(context: string): Promise<string[]> {
  const rules = ignore().add(await readFile(join(context, '.dockerignore'), 'utf8'));
  const entries = await readdir(context, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  return rules.filter(files.map((entry) => relative(context, join(entry.parentPath, entry.name))));
}

class Builder {
  private readonly stages = new Map<string, Image>();
  private current: Image | undefined;

  constructor(
    private readonly context: string,
    private readonly files: readonly string[],
    private readonly directory: string,
  ) {}

  get image(): Image {
    if (this.current === undefined) {
      throw new Error('A Dockerfile begins with FROM.');
    }
    return this.current;
  }

  async execute(name: string, text: string): Promise<void> {
    switch (name) {
      case 'FROM': {
        const [base, stage] = match(text, /^(\S+:\S+) AS (\S+)$/);
        const root = join(this.directory, stage);
        await mkdir(root);
        this.current = { root, base, workdir: '/', env: {}, labels: {}, user: 'root', command: [], healthcheck: [] };
        // The base image has this directory.
        await mkdir(join(root, 'usr/local/bin'), { recursive: true });
        this.stages.set(stage, this.current);
        return;
      }
      case 'WORKDIR':
        await mkdir(join(this.image.root, text), { recursive: true });
        this.change({ workdir: text });
        return;
      case 'ENV':
        this.change({ env: { ...this.image.env, ...parseEnvironment(text) } });
        return;
      case 'LABEL':
        this.change({ labels: parseLabels(text) });
        return;
      case 'USER':
        this.change({ user: text });
        return;
      case 'EXPOSE':
        return;
      case 'CMD':
        this.change({ command: parseExecForm(text) });
        return;
      case 'HEALTHCHECK':
        this.change({ healthcheck: parseExecForm(match(text, /^(?:--\S+ +)*CMD (.+)$/)[0]) });
        return;
      case 'RUN':
        await this.runInside(text);
        return;
      case 'COPY':
        await this.copy(text);
        return;
      default:
        throw new Error(`The instruction ${name} is not supported.`);
    }
  }

  private change(values: Partial<Image>): void {
    Object.assign(this.image, values);
  }

  private async runInside(command: string): Promise<void> {
    if (/(^|[\s=])~/.test(command)) {
      throw new Error(`This would write outside the directory of the image: RUN ${command}`);
    }
    const { root, workdir, env } = this.image;
    const inRoot = command.replace(/(^|[\s=])\//g, `$1${root}/`);
    await run('sh', ['-c', inRoot], { cwd: join(root, workdir), env: { ...createNpmEnvironment(), ...env } });
  }

  private async copy(text: string): Promise<void> {
    const [from, sources, target] = match(text, /^(--from=\S+ )?([^-].*) (\.\S*)$/);
    const place = join(this.image.root, this.image.workdir, target);
    for (const source of sources.split(' ')) {
      await (from === ''
        ? this.copyFromContext(source, place)
        : this.copyFromStage(match(from, /=(\S+)/)[0], source, place));
    }
  }

  private async copyFromContext(source: string, target: string): Promise<void> {
    const below = this.files.filter((path) => source === '.' || path === source || path.startsWith(`${source}/`));
    if (below.length === 0) {
      throw new Error(`The context has no ${source}, or .dockerignore excludes it.`);
    }
    const isDirectory = (await stat(join(this.context, source))).isDirectory();
    for (const path of below) {
      const place = isDirectory ? join(target, relative(source, path)) : resolveTarget(target, path);
      await mkdir(dirname(place), { recursive: true });
      await cp(join(this.context, path), place);
    }
  }

  private async copyFromStage(stage: string, source: string, target: string): Promise<void> {
    const built = this.stages.get(stage);
    if (built === undefined) {
      throw new Error(`There is no earlier stage ${stage}: COPY --from=${stage}`);
    }
    const path = join(built.root, source);
    const isDirectory = (await stat(path)).isDirectory();
    await mkdir(isDirectory ? target : dirname(resolveTarget(target, path)), { recursive: true });
    // Hard links are faster, and safe because the earlier stage no longer changes.
    await run('cp', ['-al', isDirectory ? `${path}/.` : path, isDirectory ? target : resolveTarget(target, path)]);
  }
}

/** Returns the groups of the pattern, or '' for missing ones. @throws if the text does not match */
function match(text: string, pattern: RegExp): [string, string, string] {
  const groups = pattern.exec(text);
  if (groups === null) {
    throw new Error(`This syntax is not supported: ${text}`);
  }
  return [groups[1] ?? '', groups[2] ?? '', groups[3] ?? ''];
}

function parseEnvironment(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split(' ').map((pair) => {
      const [name, value] = match(pair, /^(\w+)=([^"'$]*)$/);
      return [name, value];
    }),
  );
}

function parseLabels(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split(/ +(?=[\w.]+=")/).map((pair) => {
      const [name, value] = match(pair, /^([\w.]+)="([^"$]*)"$/);
      return [name, value];
    }),
  );
}

function parseExecForm(text: string): string[] {
  if (!text.startsWith('[')) {
    throw new Error(`Use the exec form, because a shell would not forward signals: ${text}`);
  }
  return JSON.parse(text) as string[];
}

/** `COPY a b/` creates `b/a`, and `COPY a b` creates `b`. */
function resolveTarget(target: string, path: string): string {
  return target.endsWith('/') ? join(target, basename(path)) : target;
}
