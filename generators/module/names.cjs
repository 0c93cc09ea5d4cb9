const { strings } = require('@angular-devkit/core');
const pluralize = require('pluralize');

const MAX_LENGTH = 30;
/** Variables of the templates. */
const USED_VARIABLES = ['account', 'body', 'changes', 'id', 'name', 'note', 'page', 'query', 'reply'];
/** Types of TypeScript that the templates use. */
const USED_TYPES = ['Partial', 'Pick'];
/** Words of SQL, and the table of TypeORM. */
const USED_TABLES = ['migrations', 'overlaps', 'references'];

/** Derives all forms of a name in which the templates use it, such as those of medical-records. */
function createNames(name) {
  const singular = pluralize.singular(name);
  const [word, words] = [singular.replaceAll('-', ' '), name.replaceAll('-', ' ')];
  const article = /^([aeio]|u(?!ni|s))/.test(word) ? 'an' : 'a';
  return {
    name,
    singular,
    word,
    words,
    Word: strings.capitalize(word),
    article,
    Article: strings.capitalize(article),
    Class: strings.classify(singular),
    Classes: strings.classify(name),
    variable: strings.camelize(singular),
    variables: strings.camelize(name),
    code: strings.underscore(singular),
    table: strings.underscore(name),
    CONSTANT: strings.underscore(singular).toUpperCase(),
    CONSTANTS: strings.underscore(name).toUpperCase(),
  };
}

/**
 * @param project the `directories` of the modules, the `sources` of their code, and the `examples` in the tests
 * @returns why the module, or its code, cannot have the name; undefined if it can
 */
function findProblem({ name, singular, variable, Class, table }, { directories, sources, examples = [] }) {
  if (!/^[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*$/.test(name)) {
    return 'use lower-case words with hyphens, such as medical-records';
  }
  if (singular === name || pluralize.plural(singular) !== name) {
    return 'use a plural, such as vaccinations';
  }
  if (name.length > MAX_LENGTH) {
    return `use at most ${MAX_LENGTH} characters`;
  }
  if (directories.includes(name)) {
    return 'this module exists';
  }
  if (examples.some((source) => source.includes(`path: '${name}'`))) {
    return 'a controller in test/extending has this path; rename that one';
  }
  const declaration = new RegExp(`(\\b(class|interface|type)|[{,])\\s+(type )?${Class}\\b|CREATE TABLE ${table}\\b`);
  const isUsed =
    Class in globalThis ||
    USED_TYPES.includes(Class) ||
    USED_VARIABLES.includes(variable) ||
    USED_TABLES.includes(table);
  if (isUsed || isReservedWord(variable) || sources.some((source) => declaration.test(source))) {
    return `its code would use ${variable}, ${Class} and the table ${table}, of which one is in use`;
  }
  return undefined;
}

function isReservedWord(variable) {
  try {
    return !new Function(`'use strict'; return async () => { const ${variable} = 0; };`);
  } catch {
    return true;
  }
}

module.exports = { createNames, findProblem };
