import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { InvalidAccount, MAX_ALLOWANCE, type Plan, PLANS, UnknownId } from '../auth';
import { InvalidSettings } from '../config/settings';
import { parsePositiveInt64 } from '../shared/domain/int64';
import { ServiceUnavailable } from '../shared/domain/pet-store-error';
import { EmbeddedDatabaseError } from '../shared/persistence/embedded-database';
import { isDatabaseUnavailable } from '../shared/persistence/unavailable';
import { runMigrations, withServices } from './services';
import type { Terminal } from './terminal';
import { accountView, auditView, keyView, printer } from './views';

const USAGE_EXIT_CODE = 2;
const MAX_AUDIT_ENTRIES = 10_000;

function buildProgram(env: NodeJS.ProcessEnv, terminal: Terminal): Command {
  const print = printer(terminal);
  const program = new Command('petstore')
    .description('Operate the pet store: accounts, API keys and the database. Settings come from the environment.')
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('(run with --help for the usage)')
    .configureOutput({
      writeOut: (text) => {
        terminal.write(text);
      },
      writeErr: (text) => {
        terminal.writeError(text);
      },
    });

  const accounts = program.command('accounts').description('customers, each with one plan');
  withPlanOptions(accounts.command('create'))
    .description('create an account')
    .requiredOption('--name <name>', 'name of the customer')
    .action(async ({ name, plan, json, ...allowance }: PlanOptions & { readonly name: string }) => {
      await withServices(env, async ({ accounts: service }) => {
        print([accountView(await service.create(name, plan, allowance))], json === true, 'one');
      });
    });
  withPlanOptions(accounts.command('set-plan'))
    .description('put an account on a plan; every replica goes by it within a second')
    .argument('<account-id>', 'id of the account', parseId)
    .action(async (id: bigint, { plan, json, ...allowance }: PlanOptions) => {
      await withServices(env, async ({ accounts: service }) => {
        print([accountView(await service.setPlan(id, plan, allowance))], json === true, 'one');
      });
    });
  accounts
    .command('list')
    .description('list all accounts')
    .option('--json', 'print one JSON value')
    .action(async ({ json }: JsonOption) => {
      await withServices(env, async ({ accounts: service }) => {
        print((await service.list()).map(accountView), json === true, 'many');
      });
    });

  const keys = program.command('keys').description('API keys of an account');
  keys
    .command('create')
    .description('issue a key; it is printed this once and kept nowhere')
    .requiredOption('--account <id>', 'id of the account', parseId)
    .option('--json', 'print one JSON value')
    .action(async ({ account, json }: KeysOptions) => {
      await withServices(env, async ({ keys: service, settings }) => {
        const { key, secret } = await service.create(account);
        print([{ ...keyView(key, settings.environment), key: secret }], json === true, 'one');
      });
    });
  keys
    .command('list')
    .description('list the keys of an account')
    .requiredOption('--account <id>', 'id of the account', parseId)
    .option('--json', 'print one JSON value')
    .action(async ({ account, json }: KeysOptions) => {
      await withServices(env, async ({ keys: service, settings }) => {
        const views = (await service.list(account)).map((key) => keyView(key, settings.environment));
        print(views, json === true, 'many');
      });
    });
  keys
    .command('revoke')
    .description('revoke a key; every replica refuses it within a second')
    .argument('<key-id>', 'id of the key', parseId)
    .option('--json', 'print one JSON value')
    .action(async (id: bigint, { json }: JsonOption) => {
      await withServices(env, async ({ keys: service, settings }) => {
        print([keyView(await service.revoke(id), settings.environment)], json === true, 'one');
      });
    });

  program
    .command('audit')
    .description('list what was done to accounts and keys, when and by whom; the newest last')
    .option('--limit <entries>', `how many of the latest entries, 1 to ${MAX_AUDIT_ENTRIES}`, parseLimit, 100)
    .option('--json', 'print one JSON value')
    .action(async ({ limit, json }: AuditOptions) => {
      await withServices(env, async ({ audit }) => {
        print((await audit.latest(limit)).map(auditView), json === true, 'many');
      });
    });

  program
    .command('migrate')
    .description('bring the database schema up to date')
    .option('--json', 'print one JSON value')
    .action(async ({ json }: JsonOption) => {
      const migrations = await runMigrations(env);
      print(
        migrations.map((migration) => ({ migration })),
        json === true,
        'many',
        'The schema is up to date.',
      );
    });
  program
    .command('openapi')
    .description('print the OpenAPI document')
    .action(async () => {
      const { openApiText } = await import('./openapi.js');
      terminal.write(await openApiText(env));
    });
  return program;
}

function withPlanOptions(command: Command): Command {
  return command
    .addOption(new Option('--plan <plan>', 'plan of the account').choices(PLANS).makeOptionMandatory())
    .option('--per-minute <requests>', 'requests per minute, for the enterprise plan', parseAllowance)
    .option('--per-day <requests>', 'requests per day, for the enterprise plan', parseAllowance)
    .option('--json', 'print one JSON value');
}

interface JsonOption {
  readonly json?: true;
}

interface PlanOptions extends JsonOption {
  readonly plan: Plan;
  readonly perMinute?: number;
  readonly perDay?: number;
}

interface KeysOptions extends JsonOption {
  readonly account: bigint;
}

interface AuditOptions extends JsonOption {
  readonly limit: number;
}

function parseId(text: string): bigint {
  const id = parsePositiveInt64(text);
  if (id === undefined) {
    throw new InvalidArgumentError('It must be a positive whole number.');
  }
  return id;
}

const parseAllowance = (text: string) => parseCount(text, MAX_ALLOWANCE);
const parseLimit = (text: string) => parseCount(text, MAX_AUDIT_ENTRIES);

function parseCount(text: string, max: number): number {
  const count = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > max) {
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  }
  return count;
}

/** What went wrong, in one line and an exit code: 2 for what the caller wrote, 1 for everything else. */
function explain(error: unknown): [string, number] {
  if (error instanceof InvalidAccount) {
    return [error.message, USAGE_EXIT_CODE];
  }
  if (error instanceof UnknownId || error instanceof InvalidSettings || error instanceof EmbeddedDatabaseError) {
    return [error.message, 1];
  }
  if (error instanceof ServiceUnavailable || isDatabaseUnavailable(error)) {
    return ['The database cannot be reached. Check DATABASE_URL and that the database runs.', 1];
  }
  if ((error as NodeJS.ErrnoException).code === UNDEFINED_TABLE) {
    return ['The database has no pet store in it yet. Run the command migrate first.', 1];
  }
  return [error instanceof Error ? error.message : String(error), 1];
}

/** SQLSTATE of a query to a table that does not exist. */
const UNDEFINED_TABLE = '42P01';

/** Lets every command throw instead of ending the process, so that one place decides about exit codes. */
function throwInsteadOfExit(command: Command): Command {
  command.exitOverride().commands.forEach((child) => throwInsteadOfExit(child));
  return command;
}

/**
 * Runs one command of the operator's command line.
 * @returns the exit code: 2 for what the caller wrote, 1 for every other failure
 */
export async function petstore(args: readonly string[], env: NodeJS.ProcessEnv, terminal: Terminal): Promise<number> {
  try {
    await throwInsteadOfExit(buildProgram(env, terminal)).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has written its own line, or the help that was asked for.
      return error.exitCode === 0 ? 0 : USAGE_EXIT_CODE;
    }
    const [message, exitCode] = explain(error);
    terminal.writeError(`error: ${message}\n`);
    return exitCode;
  }
}
