// Builds the service into dist/, unless dist/ already holds the build of these sources. A build is made beside dist/ and moved into it
// file by file, so processes that start or build at the same time never see a missing or partial file.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { GUIDES } from '../portal/guides.mjs';

const INPUTS = [
  ...['src', 'ormconfig.ts', 'portal', ...GUIDES.map(({ source }) => source), 'openapi.json', 'scripts'],
  ...['clients/typescript/src', 'clients/typescript/package.json', 'clients/typescript/tsconfig.json'],
  'clients/postman/petstore.postman_collection.json',
  ...['package.json', 'package-lock.json', 'nest-cli.json', 'tsconfig.json', 'tsconfig.build.json'],
];
const OUTPUT = 'dist';
/** As deep as dist/, because source maps have relative paths. */
const STAGING = `${OUTPUT}.${process.pid}`;
/** Describes the build in dist/: a hash of its inputs, its files, a hash of these, and the version of PGlite. */
const STAMP = '.build.json';
const PGLITE = '@electric-sql/pglite';
/** The directory with which a new embedded database starts. Creating it takes seconds, and depends only on PGlite. */
const TEMPLATE = join('src', 'shared', 'persistence', 'embedded', 'embedded-template');

const require = createRequire(import.meta.url);

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function isInstalled(name) {
  try {
    return Boolean(require.resolve(name));
  } catch {
    return false;
  }
}

/** Lists a file, or the files in a directory. */
function listFiles(path) {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    return [path];
  }
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

function hashFiles(paths) {
  const hash = createHash('sha256');
  for (const path of paths.toSorted()) {
    hash.update(`\0${path}\0`).update(existsSync(path) ? readFileSync(path) : '');
  }
  return hash.digest('hex');
}

function hashInputs() {
  return hashFiles(INPUTS.flatMap(listFiles).filter((path) => !path.endsWith('.spec.ts')));
}

function readStamp() {
  const path = join(OUTPUT, STAMP);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : { files: [] };
}

/** Whether dist/ holds the build of the inputs, and nothing else has written there, such as `npm run start:dev`. */
function isBuilt(inputs) {
  const stamp = readStamp();
  return stamp.inputs === inputs && stamp.outputs === hashFiles(stamp.files);
}

async function run(...args) {
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  process.once('exit', () => child.kill());
  const [code] = await once(child, 'exit');
  if (code !== 0) {
    process.exit(1);
  }
}

/** Compiles the service as `nest build` does, but into the staging directory. */
async function compile() {
  const config = join(STAGING, 'tsconfig.json');
  writeFileSync(config, JSON.stringify({ extends: '../tsconfig.build.json', compilerOptions: { outDir: '.' } }));
  const nest = require.resolve('@nestjs/cli/package.json');
  await run(join(dirname(nest), require(nest).bin.nest), 'build', '--path', config);
  rmSync(config);
}

/** Packs the typed client, which the documentation offers, beside its own build directory. */
async function packClient() {
  const source = join('clients', 'typescript');
  const target = join(STAGING, 'client');
  const dist = join(target, 'dist');
  const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc');
  await Promise.all([
    run(tsc, '-p', source, '--outDir', dist),
    run(tsc, '-p', source, '--module', 'commonjs', '--moduleResolution', 'bundler', '--outDir', join(dist, 'cjs')),
  ]);
  writeFileSync(join(dist, 'cjs', 'package.json'), JSON.stringify({ type: 'commonjs' }));
  for (const name of ['package.json', 'LICENSE']) {
    copyFileSync(join(source, name), join(target, name));
  }
  // The package is outside the repository, and does not know from where it was downloaded.
  const readme = readFileSync(join(source, 'README.md'), 'utf8');
  writeFileSync(
    join(target, 'README.md'),
    readme.replaceAll('http://127.0.0.1:3000', 'https://HOST').replace(/\[([^\]]+)\]\(\.\.[^)]*\)/g, '$1'),
  );
  const command = `npm pack ./${STAGING}/client --ignore-scripts --silent --pack-destination ${STAGING}/site`;
  const child = spawn(command, { shell: true, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  rmSync(target, { recursive: true });
  if (code !== 0) {
    fail('The typed client cannot be packed.');
  }
}

/** @returns the version of PGlite that the template is for; undefined if PGlite is not installed */
async function createTemplate() {
  const version = isInstalled(PGLITE) ? require('../package.json').optionalDependencies[PGLITE] : undefined;
  const isCreated = readStamp().pglite === version && existsSync(join(OUTPUT, TEMPLATE, 'PG_VERSION'));
  if (version !== undefined && !isCreated) {
    await run(join(STAGING, `${TEMPLATE}.js`));
  }
  return version;
}

function publishTemplate() {
  const [staged, published] = [join(STAGING, TEMPLATE), join(OUTPUT, TEMPLATE)];
  if (existsSync(staged)) {
    rmSync(published, { recursive: true, force: true });
    mkdirSync(dirname(published), { recursive: true });
    renameSync(staged, published);
  }
}

/** @returns the published files */
function publishFiles() {
  return listFiles(STAGING).map((staged) => {
    const published = join(OUTPUT, relative(STAGING, staged));
    if (!existsSync(published) || !readFileSync(published).equals(readFileSync(staged))) {
      mkdirSync(dirname(published), { recursive: true });
      renameSync(staged, published);
    }
    return published;
  });
}

async function build(inputs) {
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => process.exit(1));
  }
  process.on('exit', () => {
    rmSync(STAGING, { recursive: true, force: true });
  });
  mkdirSync(STAGING);
  const compiled = compile();
  const { renderSite } = await import('../portal/render.mjs');
  renderSite(join(STAGING, 'site'));
  await packClient();
  await compiled;
  const pglite = await createTemplate();
  // Another process may have made the same build.
  if (isBuilt(inputs)) {
    return;
  }
  publishTemplate();
  const files = publishFiles();
  if (pglite !== undefined) {
    files.push(join(OUTPUT, TEMPLATE, 'PG_VERSION'));
  }
  const obsolete = readStamp().files.filter((file) => !files.includes(file));
  obsolete.forEach((file) => {
    rmSync(file, { force: true });
  });
  // Without a stamp, the next start builds again.
  if (hashInputs() === inputs) {
    const stamp = join(STAGING, STAMP);
    writeFileSync(stamp, JSON.stringify({ inputs, outputs: hashFiles(files), pglite, files }));
    renameSync(stamp, join(OUTPUT, STAMP));
  }
  process.stdout.write('Built the service into dist/.\n');
}

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  fail(`Node.js 20.19 or later is required; this is ${process.version}.`);
}
process.chdir(join(dirname(fileURLToPath(import.meta.url)), '..'));
if (isInstalled('@nestjs/cli/package.json')) {
  const inputs = hashInputs();
  if (!isBuilt(inputs)) {
    await build(inputs);
  }
} else if (!existsSync(join(OUTPUT, 'src', 'main.js'))) {
  fail('The service is not built, and the development dependencies, which build it, are not installed. Run `npm ci`.');
}
