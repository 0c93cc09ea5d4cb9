import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { BRAND, IDENTIFIER } from '../../src/config/brand';
import { Clone } from './support/clone';

const INTERIM_NAME = 'woolly-rhino';
const OPTIONS = [
  ...['--name', 'tiny-zoo', '--title', 'Tiny Zoo', '--prefix', 'zoo', '--email', 'help@zoo.example'],
  ...['--repository', 'https://git.example/zoo', '--support', 'https://git.example/zoo/issues'],
];
const MODULE = 'medical-records';
/** What the generator writes, and the line that adds the module. */
const GENERATED = ['src/feature-modules.ts', `src/${MODULE}`, `test/e2e/${MODULE}`];

/** The history and the copyright of the original stay. */
const KEPT = ['CHANGELOG.md', 'LICENSE', 'rename.mjs', 'fork.spec.ts'];
const WORDS = BRAND.name.split('-');
const OLD_NAMES = new RegExp(
  [
    ...[BRAND.name, IDENTIFIER, IDENTIFIER.toUpperCase(), WORDS.join('')],
    WORDS.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(''),
    ...[BRAND.title, BRAND.supportUrl, BRAND.supportEmail],
    // Also in regular expressions, and percent-encoded.
    `${BRAND.keyPrefix}[_%5Ff()?:|[\\]]{1,16}(live|test)`,
    '[Ww]oolly[-_ ]?[Rr]hino|WOOLLY_RHINO',
  ].join('|'),
);
const SUCCESS = { code: 0, output: expect.any(String) as string };
/** A copy is built, compiled and tested on a busy machine. */
const TIMEOUT_MS = 500_000;

const git = ({ directory }: Clone, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@example.com', ...args], {
    cwd: directory,
    encoding: 'utf8',
  });
const commit = (target: Clone) => {
  git(target, 'add', '--all');
  git(target, 'commit', '--quiet', '--message=test');
};
const run = async (target: Clone, ...args: string[]) => (await target.npm(...args)).end();
const succeed = async (target: Clone, ...args: string[]) => {
  const { code, output } = await run(target, ...args);
  if (code !== 0) {
    throw new Error(`npm ${args.join(' ')} exited with ${code}:\n${output}`);
  }
};
const rename = (target: Clone, ...args: string[]) => run(target, 'run', '--silent', 'rename', '--', ...args);
const generate = (target: Clone, name: string) =>
  run(target, 'run', '--silent', '--ignore-scripts', 'generate', 'module', name);

describe('A fork with another name, twice, a generated module, and without orders', () => {
  let fork: Clone;

  const exec = (...args: string[]) => succeed(fork, 'exec', '--', ...args);
  const findUses = (names: RegExp) =>
    git(fork, 'ls-files')
      .trim()
      .split('\n')
      .filter((file) => !KEPT.includes(basename(file)))
      .flatMap((file) => {
        const [use] = names.exec(`${file}\n${readFileSync(join(fork.directory, file), 'utf8')}`) ?? [];
        return use === undefined ? [] : `${file}: ${use}`;
      });
  /** As in docs/extending.md. */
  const removeOrders = async () => {
    for (const path of git(fork, 'ls-files', 'src', 'test').split('\n')) {
      if (/^(src|test\/\w+)\/orders(\.spec\.ts|\/.*)$/.test(path)) {
        await rm(join(fork.directory, path));
      }
    }
    const list = join(fork.directory, 'src/feature-modules.ts');
    await writeFile(list, (await readFile(list, 'utf8')).replace(/^.*\bORDERS\b.*\n/gm, ''));
  };

  beforeAll(async () => {
    fork = await Clone.create();
    git(fork, 'init', '--quiet');
    commit(fork);
    expect(findUses(OLD_NAMES)).not.toEqual([]);
    expect(await rename(fork, '--name', INTERIM_NAME)).toEqual(SUCCESS);
    expect(await rename(fork, ...OPTIONS)).toEqual({
      code: 1,
      output: expect.stringContaining('commit or stash your changes first') as string,
    });
    commit(fork);
    expect(await rename(fork, ...OPTIONS)).toEqual(SUCCESS);
    commit(fork);
    expect(await rename(fork, ...OPTIONS)).toEqual({ code: 0, output: '0 files changed.\n' });
    expect(await generate(fork, MODULE)).toEqual(SUCCESS);
    await removeOrders();
    // `npm run regenerate`, without the Postman collection, which needs its own dependencies.
    for (const script of ['build', 'openapi', 'docs', 'client:types']) {
      await succeed(fork, 'run', '--ignore-scripts', script);
    }
    await exec('prettier', '--write', '--log-level=warn', 'docs');
    commit(fork);
  }, TIMEOUT_MS);

  it('has no old name, title, key prefix or URL, and uses the new URLs', () => {
    expect(findUses(OLD_NAMES)).toEqual([]);
    expect(findUses(/https:\/\/git\.example\/zoo\/blob\/main\/docs\/runbook\.md#tinyzoobans/)).toContainEqual(
      expect.stringMatching(/^docker\/monitoring\/alerts\.yml/),
    );
    expect(findUses(/supportUrl: 'https:\/\/git\.example\/zoo\/issues'/)).toHaveLength(1);
  });

  it(
    'compiles, and is formatted',
    async () => {
      const files = git(fork, 'diff', '--name-only', '--diff-filter=d', 'HEAD~3', 'HEAD').trim().split('\n');
      await exec('prettier', '--check', '--ignore-unknown', ...files);
      await exec('tsc', '--noEmit');
      await exec('eslint', ...GENERATED);
    },
    TIMEOUT_MS,
  );

  it(
    'passes the tests of keys, logs, metrics, guides, clients, contracts, modules and every operation',
    async () => {
      const e2e = ['authentication', 'documentation', 'errors', 'every-operation', 'logs', 'metrics'];
      const specs = [
        ...[...e2e, MODULE].map((name) => `test/e2e/${name}`),
        ...['src/auth/api-key-secret', 'test/contracts/(migrations|modules)', 'test/extending/extending'],
      ];
      await succeed(fork, 'test', '--', ...specs);
      const cluster = [
        '--config',
        'jest.cluster.config.cjs',
        '--forceExit',
        '--testNamePattern',
        'never logs keys|^The package',
      ];
      await exec('jest', ...cluster, 'gateway', 'client-package');
    },
    TIMEOUT_MS,
  );
});

describe('A clone', () => {
  let clone: Clone;

  const isUnchanged = () => git(clone, 'status', '--porcelain') === '';

  beforeAll(async () => {
    clone = await Clone.create();
    git(clone, 'init', '--quiet');
    commit(clone);
  });

  it('lists the changes of a new name without making them, with --dry-run', async () => {
    const { code, output } = await rename(clone, ...OPTIONS, '--dry-run');
    expect([code, output]).toEqual([0, expect.stringMatching(/^docs\/runbook\.md: \d+ lines$/m)]);
    expect(isUnchanged()).toBe(true);
  });

  it.each([
    [['--name', 'Acme'], "'Acme' is invalid. It must be 3 to 20 lowercase letters, digits and single hyphens"],
    [['--name', 'a-name-that-is-too-long'], 'It must be 3 to 20 lowercase letters'],
    [['--name', 'acme_pets'], 'It must be 3 to 20 lowercase letters'],
    [['--name', 'pg-zoo'], 'not start with pg- or kube-'],
    [['--name', 'orders'], '"orders" already occurs in'],
    [['--name', 'tiny-zoo', '--prefix', 'sk'], 'It must be 3 to 20 lowercase letters and digits'],
    [['--title', "Zoo's"], 'It must be words of letters and digits'],
    [['--support', 'zoo.example'], 'It must be an http or https URL'],
    [['--email', 'zoo'], 'It must be an email address'],
    [['--unknown'], "unknown option '--unknown'"],
    [[], 'nothing to rename'],
  ])('rejects the new name %j', async (args, message) => {
    expect(await rename(clone, ...args)).toEqual({ code: 1, output: expect.stringContaining(message) as string });
    expect(isUnchanged()).toBe(true);
  });

  it('is unchanged if the name of a module to generate is rejected', async () => {
    expect((await generate(clone, 'pets')).output).toContain('this module exists');
    expect(isUnchanged()).toBe(true);
  });
});
