import { Command, CommanderError, Option } from 'commander';
import { InvalidAccountError, InvalidKeyError, redactSecrets } from '../auth';
import { BRAND } from '../config/brand';
import { VERSION } from '../config/version';
import { getErrorCode, getErrorMessage } from '../shared/domain/error-message';
import { ServiceUnavailableError } from '../shared/domain/pet-store-error';
import { readMigrationStatus, planMigrations } from '../shared/persistence/migration-plan';
import { isDatabaseUnavailable, isTlsFailure } from '../shared/persistence/unavailable-error';
import { addAccountCommands } from './account-commands';
import { MAX_AUDIT_ENTRIES, parseEntryCount } from './arguments';
import { addKeyCommands } from './key-commands';
import { Printer } from './printer';
import { runMigrations, withDatabase } from './services';
import { createSafeTerminal, type Terminal } from './terminal';
import { createAuditView } from './views';

const USAGE_EXIT_CODE = 2;
const UP_TO_DATE = 'The schema is up to date.';

/**
 * Runs one command of the operator's command line.
 * @returns the exit code: 2 for invalid input, 1 for every other failure
 */
export async function runCli(args: readonly string[], env: NodeJS.ProcessEnv, output: Terminal): Promise<number> {
  const terminal = createSafeTerminal(output);
  try {
    await overrideExit(createProgram(env, terminal)).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has already written the error, or the requested help.
      return error.exitCode === 0 ? 0 : USAGE_EXIT_CODE;
    }
    const [message, exitCode] = explainFailure(error);
    terminal.writeError(`error: ${message}\n`);
    return exitCode;
  }
}

/** Creates the program with all commands. */
export function createProgram(env: NodeJS.ProcessEnv, terminal: Terminal): Command {
  const program = new Command(BRAND.name)
    .description('Manage the accounts, API keys and database of the pet store. Settings come from the environment.')
    .version(VERSION)
    .option('--json', 'print one JSON value')
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(run with --help for usage)')
    .configureOutput({
      writeOut: (text) => {
        terminal.write(text);
      },
      writeErr: (text) => {
        // Commander repeats invalid input, which may be a key instead of its ID.
        terminal.writeError(redactSecrets(text));
      },
    });
  const printer = new Printer(env, terminal, () => program.opts());
  addAccountCommands(program, printer);
  addKeyCommands(program, printer);
  program
    .command('audit')
    .description('list the changes to accounts and keys, with time and author; newest last')
    .option('--limit <entries>', `number of latest entries, 1 to ${MAX_AUDIT_ENTRIES}`, parseEntryCount, 100)
    .action(({ limit }: { readonly limit: number }, command: Command) =>
      printer.printMany(async ({ audit }) => {
        const entries = await audit.listLatest(limit);
        if (entries.length === limit && command.getOptionValueSource('limit') === 'default') {
          printer.printNote(
            `Older entries may exist: only the latest ${limit} are listed, with --limit up to ${MAX_AUDIT_ENTRIES}.`,
          );
        }
        return entries.map(createAuditView);
      }),
    );
  program
    .command('migrate')
    .description('update the database schema')
    .addOption(new Option('--status', 'list the applied and the pending migrations instead').conflicts('dryRun'))
    .option('--dry-run', 'print the SQL of the pending migrations instead')
    .action(({ status, dryRun }: MigrateOptions) => {
      const run = status ? printMigrationStatus : dryRun ? printMigrationPlan : migrate;
      return run(env, printer);
    });
  program
    .command('openapi')
    .description('print the OpenAPI document')
    .option('--api-version <version>', 'version of the API, such as 2 for /v2', '1')
    .action(async ({ apiVersion }: { readonly apiVersion: string }, command: Command) => {
      const { generateOpenApiText } = await import('./openapi.js');
      const text = await generateOpenApiText(env, apiVersion);
      terminal.write(text ?? command.error(`error: no operation has the API version ${apiVersion}`));
    });
  return program;
}

interface MigrateOptions {
  readonly status?: true;
  readonly dryRun?: true;
}

async function migrate(env: NodeJS.ProcessEnv, printer: Printer): Promise<void> {
  const migrations = await runMigrations(env, (reason) => {
    printer.printNote(`The migration is waiting: ${reason}.`);
  });
  printer.printList(
    migrations.map((migration) => ({ migration })),
    UP_TO_DATE,
  );
}

async function printMigrationStatus(env: NodeJS.ProcessEnv, printer: Printer): Promise<void> {
  const migrations = await withDatabase(env, readMigrationStatus);
  printer.printList(
    migrations.map(({ migration, state }) => ({ migration, state })),
    UP_TO_DATE,
  );
}

async function printMigrationPlan(env: NodeJS.ProcessEnv, printer: Printer): Promise<void> {
  const plan = await withDatabase(env, planMigrations);
  const sql = plan.map(({ migration, statements }) => {
    return [`-- ${migration}`, ...statements.map((statement) => statement.replace(/;?\s*$/, ';'))].join('\n');
  });
  printer.printText(plan, sql.length === 0 ? UP_TO_DATE : sql.join('\n\n'));
}

/** Makes every command throw instead of exiting, so that exit codes are decided in one place. */
function overrideExit(command: Command): Command {
  command.exitOverride().commands.forEach((child) => overrideExit(child));
  return command;
}

/** SQLSTATE of a query that uses a table or column that does not exist. */
const MISSING_FROM_SCHEMA = ['42P01', '42703'];

/** Describes an error in one line, with an exit code: 2 for invalid input, 1 for everything else. */
function explainFailure(error: unknown): [string, number] {
  if (error instanceof InvalidAccountError || error instanceof InvalidKeyError) {
    return [error.message, USAGE_EXIT_CODE];
  }
  if (isTlsFailure(error)) {
    return [
      `The database cannot be reached over TLS: ${getErrorMessage(error)}. Check sslmode and the certificates.`,
      1,
    ];
  }
  if (error instanceof ServiceUnavailableError || isDatabaseUnavailable(error)) {
    const reason = getErrorMessage(error instanceof ServiceUnavailableError ? error.cause : error);
    return [`The database is busy or unreachable: ${reason}. Check DATABASE_URL and that the database is running.`, 1];
  }
  if (MISSING_FROM_SCHEMA.includes(getErrorCode(error) ?? '')) {
    return [`The database schema is not up to date. Run \`${BRAND.name} migrate\` first.`, 1];
  }
  return [getErrorMessage(error), 1];
}
