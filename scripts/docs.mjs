// Writes the generated parts of docs/, between comments with their names. With --check, it changes nothing, and fails if they are not those of
// the code.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import process from 'node:process';
import prettier from 'prettier';
import { Registry } from 'prom-client';
import { listOperations } from '../portal/operations.mjs';

const require = createRequire(import.meta.url);
const { createApp } = require('../dist/src/app.setup.js');
const { PLAN_ALLOWANCES } = require('../dist/src/auth/domain/account.js');
const { createProgram } = require('../dist/src/cli/petstore.js');
const { loadSettings, SETTINGS } = require('../dist/src/config/settings.js');
const { ERROR_CATALOG } = require('../dist/src/error-catalog.js');
const { WINDOWS } = require('../dist/src/shared/domain/allowance.js');
const { LOG_EVENTS } = require('../dist/src/shared/log-events.js');

/** The functions that create the parts of each page, by the name of the part. */
const PAGES = {
  'docs/api.md': { operations: createOperationTable, plans: createPlanTable },
  'docs/errors.md': { errors: createErrorSections },
  'docs/reference.md': {
    settings: createSettingTable,
    commands: createCommandTable,
    events: createEventList,
    metrics: createMetricTable,
  },
};

const createTable = (headers, rows) =>
  [headers, headers.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
const formatCode = (names) => names.map((name) => `\`${name}\``).join(', ');

function createOperationTable() {
  const operations = listOperations(JSON.parse(readFileSync('openapi.json', 'utf8')));
  return createTable(
    ['operation', 'what it does', 'level'],
    operations.map(({ method, path, summary, deprecated, 'x-stability': level = 'stable' }) => [
      formatCode([`${method} ${path}`]),
      summary,
      deprecated ? 'deprecated' : level,
    ]),
  );
}

function createPlanTable() {
  const formatLimit = (limit) => limit?.toLocaleString('en') ?? 'set on the account';
  return createTable(
    ['plan', ...WINDOWS.map(({ name }) => `requests per ${name}`)],
    Object.entries(PLAN_ALLOWANCES).map(([plan, allowance]) => [
      formatCode([plan]),
      ...WINDOWS.map(({ limit }) => formatLimit(allowance[limit])),
    ]),
  );
}

function createErrorSections() {
  const entries = ERROR_CATALOG.codes.map((code) => ({ code, ...ERROR_CATALOG.get(code) }));
  const createSection = ({ code, status, message, help }) =>
    [`### \`${code}\` (${status})`, `> ${message.replaceAll('<', '\\<')}`, ...(help ? [help] : [])].join('\n\n');
  const createSections = (isOwn) =>
    entries
      .filter(({ status }) => isOwn(status))
      .sort((a, b) => a.status - b.status)
      .map(createSection);
  return [
    '## Client errors (4xx)',
    ...createSections((status) => status < 500),
    '## Server errors (5xx)',
    ...createSections((status) => status >= 500),
  ].join('\n\n');
}

function createSettingTable() {
  const rows = Object.entries(SETTINGS).map(([name, [{ requirement }, defaultValue, description]]) => {
    const [, range, choice] =
      /^be (?:a whole number from (.+)|((?!true)(?:\S+, )*\S+ or \S+))$/.exec(requirement) ?? [];
    const values = range ?? choice?.replaceAll(/[^\s,]+/g, (word) => (word === 'or' ? word : `\`${word}\``));
    const isSet = defaultValue !== undefined && defaultValue !== false && String(defaultValue) !== '';
    const meaning = [description ?? requirement, ...(values ? [values] : [])].join(': ');
    return [formatCode([name]), meaning, isSet ? formatCode([String(defaultValue)]) : ''];
  });
  return createTable(['variable', 'meaning', 'default'], rows);
}

function createCommandTable() {
  const program = createProgram({}, { write: () => undefined, writeError: () => undefined });
  return createTable(['command', 'what it does'], listCommands(program));
}

function listCommands(command, prefix = '') {
  const name = `${prefix}${command.name()}`;
  if (command.commands.length > 0) {
    return command.commands.flatMap((each) => listCommands(each, prefix === '' && !command.parent ? '' : `${name} `));
  }
  const options = command.options.filter(({ hidden }) => !hidden);
  const usage = command.usage().replace('[options] ', '').replace('[options]', '');
  const lines = options.map(({ flags, description, defaultValueDescription: standard }) => {
    const suffix = standard === undefined ? '' : ` (default: ${standard})`;
    return `<br>\`${flags}\`: ${description}${suffix}`;
  });
  return [[`\`${`${name} ${usage}`.trim()}\``, [command.description(), ...lines].join('')]];
}

function createEventList() {
  const events = Object.entries(LOG_EVENTS);
  return events.map(([event, [level, meaning]]) => `- ${formatCode([event])} (${level}): ${meaning}`).join('\n');
}

function createMetricTable(app) {
  const metrics = app.get(Registry).getMetricsAsArray();
  const own = metrics.filter(({ name }) => !/^(nodejs|process)_/.test(name));
  return createTable(
    ['metric', 'labels', 'meaning'],
    own.map(({ name, help, labelNames }) => [formatCode([name]), formatCode(labelNames), help]),
  );
}

const app = await createApp({ ...loadSettings({}), logLevel: 'silent' });
for (const [file, parts] of Object.entries(PAGES)) {
  const text = readFileSync(file, 'utf8');
  let updated = text;
  for (const [name, create] of Object.entries(parts)) {
    updated = updated.replace(
      new RegExp(`(<!-- ${name} -->)[^]*(<!-- /${name} -->)`),
      (_, start, end) => `${start}\n\n${create(app)}\n\n${end}`,
    );
  }
  updated = await prettier.format(updated, { ...(await prettier.resolveConfig(file)), filepath: file });
  if (!process.argv.includes('--check')) {
    writeFileSync(file, updated);
  } else if (updated !== text) {
    process.stderr.write(`${file} is out of date. Run npm run docs.\n`);
    process.exitCode = 1;
  }
}
