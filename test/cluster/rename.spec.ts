import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { BRAND, IDENTIFIER } from '../../src/config/brand';
import { Clone } from './support/clone';

const OPTIONS = [
  ...['--name', 'tiny-zoo', '--title', 'Tiny Zoo', '--prefix', 'zoo', '--email', 'help@zoo.example'],
  ...['--repository', 'https://git.example/zoo', '--support', 'https://git.example/zoo/issues'],
];
const SUCCESS = { code: 0, output: expect.any(String) as string };
/** The history and the copyright of the original stay. */
const KEPT = ['CHANGELOG.md', 'LICENSE', 'rename.mjs', 'rename.spec.ts'];
const WORDS = BRAND.name.split('-');
const OLD_NAMES = new RegExp(
  [
    ...[BRAND.name, IDENTIFIER, IDENTIFIER.toUpperCase(), WORDS.join('')],
    WORDS.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(''),
    ...[BRAND.title, BRAND.supportUrl, BRAND.supportEmail],
    // Also in regular expressions, and percent-encoded.
    `${BRAND.keyPrefix}[_%5Ff()?:|[\\]]{1,16}(live|test)`,
  ].join('|'),
);

describe('npm run rename', () => {
  let clone: Clone;
  let renamed: Clone;

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
  const rename = (target: Clone, ...args: string[]) => run(target, 'run', '--silent', 'rename', '--', ...args);
  const findUses = (target: Clone, names: RegExp) =>
    git(target, 'ls-files')
      .trim()
      .split('\n')
      .filter((file) => !KEPT.includes(basename(file)))
      .flatMap((file) => {
        const [use] = names.exec(`${file}\n${readFileSync(join(target.directory, file), 'utf8')}`) ?? [];
        return use === undefined ? [] : `${file}: ${use}`;
      });

  beforeAll(async () => {
    [clone, renamed] = await Promise.all([Clone.create(), Clone.create()]);
    for (const each of [clone, renamed]) {
      git(each, 'init', '--quiet');
      commit(each);
    }
    expect(await rename(renamed, ...OPTIONS)).toEqual(SUCCESS);
    commit(renamed);
  }, 300_000);
  afterAll(() => Promise.all([clone.remove(), renamed.remove()]));

  it('leaves no old name, title, key prefix or URL', () => {
    expect(findUses(clone, OLD_NAMES)).not.toEqual([]);
    expect(findUses(renamed, OLD_NAMES)).toEqual([]);
  });

  it('uses the new URLs', () => {
    expect(findUses(renamed, /https:\/\/git\.example\/zoo\/blob\/main\/docs\/runbook\.md#tinyzoobans/)).toContainEqual(
      expect.stringMatching(/^docker\/monitoring\/alerts\.yml/),
    );
    expect(findUses(renamed, /supportUrl: 'https:\/\/git\.example\/zoo\/issues'/)).toHaveLength(1);
  });

  it('leaves formatted sources that compile', async () => {
    const files = git(renamed, 'show', '--name-only', '--diff-filter=d', '--format=').trim().split('\n');
    expect(await run(renamed, 'exec', '--', 'prettier', '--check', '--ignore-unknown', ...files)).toEqual(SUCCESS);
    expect(await run(renamed, 'exec', '--', 'tsc', '--noEmit')).toEqual({ code: 0, output: '' });
  }, 300_000);

  it('leaves keys, redacted logs, metrics, guides and an OpenAPI document that pass their tests', async () => {
    const specs = ['src/auth/api-key-secret', 'test/e2e/(logs|metrics|monitoring|authentication|openapi-document)'];
    expect(await run(renamed, 'test', '--', '--maxWorkers=1', ...specs)).toEqual(SUCCESS);
  }, 500_000);

  it('leaves a gateway that redacts keys in its log', async () => {
    const gateway = ['--config', 'jest.cluster.config.cjs', 'gateway', '--testNamePattern', 'never logs keys'];
    expect(await run(renamed, 'exec', '--', 'jest', ...gateway)).toEqual(SUCCESS);
  }, 300_000);

  it('can be repeated with another name, and only once the changes are committed', async () => {
    expect(await rename(renamed, ...OPTIONS)).toEqual({ code: 0, output: '0 files changed.\n' });
    expect(await rename(renamed, '--name', 'furry')).toEqual(SUCCESS);
    expect(await rename(renamed, '--name', 'woolly')).toEqual({
      code: 1,
      output: expect.stringContaining('commit or stash your changes first') as string,
    });
    commit(renamed);
    expect(findUses(renamed, /tiny[-_ ]?zoo|zoo_/i)).toEqual([]);
  }, 300_000);

  it('lists the changes without making them, with --dry-run', async () => {
    const { code, output } = await rename(clone, ...OPTIONS, '--dry-run');
    expect([code, output]).toEqual([0, expect.stringMatching(/^docs\/runbook\.md: \d+ lines$/m)]);
    expect(git(clone, 'status', '--porcelain')).toBe('');
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
  ])('rejects %j', async (args, message) => {
    expect(await rename(clone, ...args)).toEqual({ code: 1, output: expect.stringContaining(message) as string });
    expect(git(clone, 'status', '--porcelain')).toBe('');
  });
});
