// Generates a module (docs/extending.md), as a schematic, which is how `nest generate` works too.
const { apply, applyTemplates, chain, mergeWith, SchematicsException, url } = require('@angular-devkit/schematics');
const prettier = require('prettier');
const { createNames, findProblem } = require('./names.cjs');

const LIST = 'src/feature-modules.ts';

module.exports.default = (options) => (tree) => {
  const names = createNames(options.name);
  const problem = findProblem(names, {
    directories: [...tree.getDir('src').subdirs, ...tree.getDir('test/e2e').subdirs],
    sources: findFiles(tree.getDir('src'), '.ts').map((path) => tree.readText(path)),
    examples: findFiles(tree.getDir('test/extending'), '.ts').map((path) => tree.readText(path)),
  });
  if (problem !== undefined) {
    throw new SchematicsException(`A module cannot have the name ${options.name}: ${problem}.`);
  }
  const values = { ...names, timestamp: createTimestamp(tree) };
  const files = apply(url('./files'), [applyTemplates(values)]);
  return chain([mergeWith(files), registerModule(names), format]);
};

/** Creates the number of the migration: the time, but later than all other migrations. */
function createTimestamp(tree) {
  const migrations = findFiles(tree.getDir('src'), '.migration.ts').map((path) => tree.readText(path));
  const timestamps = migrations.flatMap((text) => /^export class \w+?(\d{13}) /m.exec(text)?.[1] ?? []);
  return Math.max(Date.now(), ...timestamps.map((timestamp) => Number(timestamp) + 1));
}

function findFiles(directory, suffix) {
  return [
    ...directory.subfiles.filter((file) => file.endsWith(suffix)).map((file) => `${directory.path}/${file}`),
    ...directory.subdirs.flatMap((name) => findFiles(directory.dir(name), suffix)),
  ];
}

function registerModule({ name, CONSTANTS }) {
  return (tree) => {
    insertBefore(tree, LIST, /^import type /m, `import { ${CONSTANTS} } from './${name}';\n`);
    insertBefore(tree, LIST, /^\] as const/m, `  ${CONSTANTS},\n`);
  };
}

/** @throws SchematicsException when the file has no such place */
function insertBefore(tree, path, place, text) {
  const content = tree.readText(path);
  const index = content.search(place);
  if (index === -1) {
    throw new SchematicsException(`${path} has no line that matches ${place}.`);
  }
  tree.overwrite(path, content.slice(0, index) + text + content.slice(index));
}

/** Formats what was generated: the length of its lines depends on the name. */
async function format(tree) {
  for (const { path } of tree.actions) {
    const options = await prettier.resolveConfig(`.${path}`);
    tree.overwrite(path, await prettier.format(tree.readText(path), { ...options, filepath: path }));
  }
}
