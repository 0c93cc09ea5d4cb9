// Renames the service: its name, title, key prefix and URLs, in all files that git tracks.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError } from 'commander';

const BRAND_FILE = 'src/config/brand.ts';
/** The history and the copyright of the original, and what must not rename itself. */
const EXCLUDED = ['CHANGELOG.md', 'LICENSE', 'rename.mjs', 'fork.spec.ts'];

/** The name is part of Kubernetes names, PostgreSQL roles, metrics and a challenge of at most 64 characters. */
const parseName = matching(
  /^(?!pg-|kube-)(?=.{3,20}$)[a-z][a-z0-9]*(-[a-z0-9]+)*$/,
  '3 to 20 lowercase letters, digits and single hyphens, and not start with pg- or kube-',
);
const parseTitle = matching(/^(?=.{1,60}$)\p{L}[\p{L}\p{N}]*([ .-][\p{L}\p{N}]+)*$/u, 'words of letters and digits');
const parsePrefix = matching(/^[a-z][a-z0-9]{2,19}$/, '3 to 20 lowercase letters and digits');
const parseUrl = matching(/^https?:\/\/[\w.-]+(:\d+)?(\/[\w.~@-]+)*$/, 'an http or https URL without a final slash');
const parseEmail = matching(/^[\w.+-]+@[\w-]+(\.[\w-]+)+$/, 'an email address');

const program = new Command('npm run rename --')
  .description(
    'Renames the service in all files that git tracks. Pets stay pets: operations, tables and classes such as PetStoreError ' +
      'keep their names. Options that are left out change nothing, except for the defaults that --name gives.',
  )
  .option('--name <name>', 'the service and its command, such as acme-pets', parseName)
  .option('--title <title>', 'the name that people read (default: the name, such as "Acme Pets")', parseTitle)
  .option('--prefix <prefix>', 'how API keys start (default: the name without hyphens)', parsePrefix)
  .option('--repository <url>', 'where the source is; alerts link to the runbook there', parseUrl)
  .option('--support <url>', 'where clients get support', parseUrl)
  .option('--email <address>', 'the email address of the support', parseEmail)
  .option('--dry-run', 'only list the changes')
  .showHelpAfterError('Try `npm run rename -- --help`.')
  .parse();

function matching(pattern, requirement) {
  return (value) => {
    if (!pattern.test(value)) {
      throw new InvalidArgumentError(`It must be ${requirement}.`);
    }
    return value;
  };
}

function readBrand() {
  const text = readFileSync(BRAND_FILE, 'utf8');
  const read = (field) => new RegExp(`^  ${field}: '(.*)',$`, 'm').exec(text)[1];
  const [name, title, prefix, support, email] = ['name', 'title', 'keyPrefix', 'supportUrl', 'supportEmail'].map(read);
  return {
    name,
    title,
    prefix,
    support,
    email,
    repository: JSON.parse(readFileSync('package.json', 'utf8')).repository.url,
  };
}

/** The forms of a name: as it is, in metrics and roles, in links to alerts, in alerts, in environment variables, and its title. */
function getForms(name) {
  const capitalized = name.split('-').map((word) => word[0].toUpperCase() + word.slice(1));
  const [snake, flat] = [name.replaceAll('-', '_'), name.replaceAll('-', '')];
  return {
    kebab: name,
    snake,
    flat,
    pascal: capitalized.join(''),
    screaming: snake.toUpperCase(),
    title: capitalized.join(' '),
  };
}

/** Returns the function that replaces, in one pass, all that belongs to the brand in a text. */
function createReplacer(brand, target) {
  const [from, to] = [getForms(brand.name), getForms(target.name)];
  const replaceField = (field) => [brand[field].replaceAll(/[.+/]/g, '\\$&'), target[field]];
  const replacements = [
    // The longest first: one may contain another.
    ...['repository', 'support', 'email']
      .filter((field) => brand[field] !== target[field])
      .sort((a, b) => brand[b].length - brand[a].length)
      .map(replaceField),
    // Also in regular expressions, and percent-encoded.
    [`${brand.prefix}(?=[_%5Ff()?:|[\\]]{1,16}(?:live|test))`, target.prefix],
    replaceField('title'),
    // The field of the log with the service's own fields.
    [`(?<=under \`)${from.snake}(?=\`)|${from.snake}(?=\\.(?:[a-z]+[A-Z]|…))`, to.snake],
    [`${from.snake}(?=_)`, to.snake],
    [`${from.flat}(?=[a-z])`, to.flat],
    ...['kebab', 'snake', 'pascal', 'screaming'].map((form) => [from[form], to[form]]),
  ];
  const pattern = new RegExp(replacements.map(([source]) => `(${source})`).join('|'), 'gu');
  return (text) => text.replaceAll(pattern, (_, ...groups) => replacements[groups.findIndex(Boolean)][1]);
}

/** Fails if a file already contains a new name: its uses could not be told apart afterwards. */
function checkUnused(files, brand, target) {
  const listNames = ({ name, title, prefix }) => {
    const { kebab, snake, flat, pascal, screaming } = getForms(name);
    return [kebab, snake, flat, pascal, screaming, title, `${prefix}_live_`, `${prefix}_test_`];
  };
  const names = listNames(target).filter((name) => !listNames(brand).includes(name));
  for (const file of files) {
    const text = readFileSync(file, 'utf8').replaceAll(/.*npm run rename.*/g, '');
    const used = names.find((name) => text.includes(name));
    if (used !== undefined) {
      program.error(`error: "${used}" already occurs in ${file}, with another meaning; choose another name`);
    }
  }
}

/** @returns the paths of the changed files */
function rename(files, brand, target, isDryRun) {
  const replace = createReplacer(brand, target);
  return files.flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    const prefix = file === BRAND_FILE ? [/(?<=keyPrefix: ')[^']*/, target.prefix] : ['', ''];
    const replaced = replace(text).replace(...prefix);
    const path = join(dirname(file), replace(basename(file)));
    if (replaced === text && path === file) {
      return [];
    }
    const before = text.split('\n');
    const lines = replaced.split('\n').filter((line, index) => line !== before[index]).length;
    process.stdout.write(`${file}: ${lines} lines${path === file ? '' : `, now ${path}`}\n`);
    if (!isDryRun) {
      writeFileSync(file, replaced);
      renameSync(file, path);
    }
    return [path];
  });
}

process.chdir(join(dirname(fileURLToPath(import.meta.url)), '..'));
const git = (...args) => execFileSync('git', args, { encoding: 'utf8' });
const { dryRun: isDryRun = false, ...options } = program.opts();
if (Object.keys(options).length === 0) {
  program.error('error: nothing to rename');
}
if (!isDryRun && git('status', '--porcelain') !== '') {
  program.error('error: commit or stash your changes first, so that `git diff` shows only the renaming');
}
const brand = readBrand();
const { title, flat } = getForms(options.name ?? brand.name);
const target = { ...brand, ...(options.name !== undefined && { title, prefix: flat }), ...options };
if (target.repository === target.support) {
  program.error(
    'error: the URLs of the repository and of the support must differ, so that they can be told apart later',
  );
}
const files = git('ls-files', '-z')
  .split('\0')
  .filter((file) => existsSync(file) && !EXCLUDED.includes(basename(file)) && !readFileSync(file).includes(0));
checkUnused(files, brand, target);
const changed = rename(files, brand, target, isDryRun);
if (!isDryRun && changed.length > 0) {
  const prettier = ['node_modules/prettier/bin/prettier.cjs', '--write', '--ignore-unknown', '--log-level=warn'];
  execFileSync(process.execPath, [...prettier, ...changed], { stdio: 'inherit' });
}
process.stdout.write(`${changed.length} files ${isDryRun ? 'would change' : 'changed'}.\n`);
