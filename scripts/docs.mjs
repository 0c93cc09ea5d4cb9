// Writes the generated tables of docs/reference.md, between comments with their names. With --check, it changes nothing, and fails if the
// tables are not those of the code.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import process from 'node:process';
import prettier from 'prettier';
import { Registry } from 'prom-client';

const require = createRequire(import.meta.url);
const { createApp } = require('../dist/src/app.setup.js');
const { createProgram } = require('../dist/src/cli/petstore.js');
const { loadSettings } = require('../dist/src/config/settings.js');

const FILE = 'docs/reference.md';

const createTable = (headers, rows) =>
  [headers, headers.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

function listCommands(command, prefix = '') {
  const name = `${prefix}${command.name()}`;
  if (command.commands.length > 0) {
    return command.commands.flatMap((each) => listCommands(each, prefix === '' && !command.parent ? '' : `${name} `));
  }
  const options = command.options.filter(({ hidden, long }) => !hidden && long !== '--json');
  const usage = command.usage().replace('[options] ', '').replace('[options]', '');
  const lines = options.map(({ flags, description }) => `<br>\`${flags}\`: ${description}`);
  return [[`\`${`${name} ${usage}`.trim()}\``, [command.description(), ...lines].join('')]];
}

async function createTables() {
  const program = createProgram({}, { write: () => undefined, writeError: () => undefined });
  const app = await createApp({ ...loadSettings({}), logLevel: 'silent' });
  const metrics = app.get(Registry).getMetricsAsArray();
  const own = metrics.filter(({ name }) => !/^(nodejs|process)_/.test(name));
  return {
    commands: createTable(['command', 'what it does'], listCommands(program)),
    metrics: createTable(
      ['metric', 'labels', 'meaning'],
      own.map(({ name, help, labelNames }) => [
        `\`${name}\``,
        labelNames.map((label) => `\`${label}\``).join(', '),
        help,
      ]),
    ),
  };
}

const text = readFileSync(FILE, 'utf8');
let updated = text;
for (const [name, table] of Object.entries(await createTables())) {
  updated = updated.replace(
    new RegExp(`(<!-- ${name} -->)[^]*(<!-- /${name} -->)`),
    (_, start, end) => `${start}\n\n${table}\n\n${end}`,
  );
}
updated = await prettier.format(updated, { ...(await prettier.resolveConfig(FILE)), filepath: FILE });
if (process.argv.includes('--check')) {
  if (updated !== text) {
    process.stderr.write(`${FILE} is out of date. Run npm run docs.\n`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(FILE, updated);
}
