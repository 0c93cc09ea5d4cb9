import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import ignore from '@balena/dockerignore';

const run = promisify(execFile);

/** What a stage of a Dockerfile makes, in a directory in place of the root of a file system. */
export interface Image {
  readonly root: string;
  /** The image it begins with. */
  readonly base: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly user: string;
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
}

/**
 * Carries out the steps of a Dockerfile without Docker, with this machine's programs in place of the base images. It
 * knows what the project's Dockerfile uses, and throws at anything else.
 */
export async function buildImage(dockerfile: string, context: string, directory: string): Promise<Image> {
  const builder = new Builder(context, await filesSent(context), directory);
  for (const [name = '', text = ''] of instructions(await readFile(dockerfile, 'utf8'))) {
    await builder.carryOut(name, text);
  }
  return builder.image;
}

/** Without comments, and with continued lines joined. */
function instructions(dockerfile: string): string[][] {
  const lines = dockerfile
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n');
  return lines.flatMap((line) => [...line.matchAll(/^(\S+) +(.+)$/g)].map(([, name = '', text = '']) => [name, text]));
}

/** Paths of the files in the context that .dockerignore lets through. */
async function filesSent(context: string): Promise<string[]> {
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
    private readonly sent: readonly string[],
    private readonly directory: string,
  ) {}

  get image(): Image {
    if (this.current === undefined) {
      throw new Error('A Dockerfile begins with FROM.');
    }
    return this.current;
  }

  async carryOut(name: string, text: string): Promise<void> {
    switch (name) {
      case 'FROM': {
        const [base, stage] = match(text, /^(\S+:\S+) AS (\S+)$/);
        const root = join(this.directory, stage);
        await mkdir(root);
        this.current = { root, base, workdir: '/', env: {}, labels: {}, user: 'root', command: [], healthcheck: [] };
        // What RUN finds in the base image.
        await mkdir(join(root, 'usr/local/bin'), { recursive: true });
        this.stages.set(stage, this.current);
        return;
      }
      case 'WORKDIR':
        await mkdir(join(this.image.root, text), { recursive: true });
        this.change({ workdir: text });
        return;
      case 'ENV':
        this.change({ env: { ...this.image.env, ...environment(text) } });
        return;
      case 'LABEL':
        this.change({ labels: labels(text) });
        return;
      case 'USER':
        this.change({ user: text });
        return;
      case 'EXPOSE':
        return;
      case 'CMD':
        this.change({ command: execForm(text) });
        return;
      case 'HEALTHCHECK':
        this.change({ healthcheck: execForm(match(text, /^(?:--\S+ +)*CMD (.+)$/)[0]) });
        return;
      case 'RUN':
        await this.runInside(text);
        return;
      case 'COPY':
        await this.copy(text);
        return;
      default:
        throw new Error(`The instruction ${name} is not known here.`);
    }
  }

  private change(values: Partial<Image>): void {
    Object.assign(this.image, values);
  }

  private async runInside(command: string): Promise<void> {
    if (/(^|[\s=])~/.test(command)) {
      throw new Error(`This would not stay in the directory of the image: RUN ${command}`);
    }
    const { root, workdir, env } = this.image;
    const inRoot = command.replace(/(^|[\s=])\//g, `$1${root}/`);
    await run('sh', ['-c', inRoot], { cwd: join(root, workdir), env: { ...buildEnvironment(), ...env } });
  }

  private async copy(text: string): Promise<void> {
    const [from, sources, target] = match(text, /^(--from=\S+ )?([^-].*) (\.\S*)$/);
    const place = join(this.image.root, this.image.workdir, target);
    for (const source of sources.split(' ')) {
      await (from === '' ? this.copySent(source, place) : this.copyBuilt(match(from, /=(\S+)/)[0], source, place));
    }
  }

  private async copySent(source: string, target: string): Promise<void> {
    const below = this.sent.filter((path) => source === '.' || path === source || path.startsWith(`${source}/`));
    if (below.length === 0) {
      throw new Error(`The context has no ${source} that .dockerignore lets through.`);
    }
    const isDirectory = (await stat(join(this.context, source))).isDirectory();
    for (const path of below) {
      const place = isDirectory ? join(target, relative(source, path)) : inPlace(target, path);
      await mkdir(dirname(place), { recursive: true });
      await cp(join(this.context, path), place);
    }
  }

  private async copyBuilt(stage: string, source: string, target: string): Promise<void> {
    const built = this.stages.get(stage);
    if (built === undefined) {
      throw new Error(`No stage ${stage} stands before this: COPY --from=${stage}`);
    }
    const path = join(built.root, source);
    const isDirectory = (await stat(path)).isDirectory();
    await mkdir(isDirectory ? target : dirname(inPlace(target, path)), { recursive: true });
    // By hard links, which is faster: the stage that is copied from is finished.
    await run('cp', ['-al', isDirectory ? `${path}/.` : path, isDirectory ? target : inPlace(target, path)]);
  }
}

/** The groups of the pattern, empty ones as an empty text. @throws where the text is not of this form */
function match(text: string, pattern: RegExp): [string, string, string] {
  const groups = pattern.exec(text);
  if (groups === null) {
    throw new Error(`This form is not known here: ${text}`);
  }
  return [groups[1] ?? '', groups[2] ?? '', groups[3] ?? ''];
}

function environment(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split(' ').map((pair) => {
      const [name, value] = match(pair, /^(\w+)=([^"'$]*)$/);
      return [name, value];
    }),
  );
}

function labels(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split(/ +(?=[\w.]+=")/).map((pair) => {
      const [name, value] = match(pair, /^([\w.]+)="([^"$]*)"$/);
      return [name, value];
    }),
  );
}

function execForm(text: string): string[] {
  if (!text.startsWith('[')) {
    throw new Error(`A shell would stand between the program and its signals: ${text}`);
  }
  return JSON.parse(text) as string[];
}

/** The user's settings of npm, but nothing that npm or Jest has set for this process, nor the project's own programs. */
function buildEnvironment(): Record<string, string | undefined> {
  const { HOME, PATH = '' } = process.env;
  const path = PATH.split(delimiter).filter((part) => !part.includes('node_modules'));
  return { HOME, PATH: path.join(delimiter), npm_config_prefer_offline: 'true' };
}

/** `COPY a b/` makes `b/a`, and `COPY a b` makes `b`. */
function inPlace(target: string, path: string): string {
  return target.endsWith('/') ? join(target, basename(path)) : target;
}
