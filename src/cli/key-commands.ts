import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { DEFAULT_GRACE_MS } from '../auth';
import { SCOPES } from '../feature-modules';
import { parseDuration, parseId, parseTime } from './arguments';
import { readSharedUsage } from './rate-limit-usage';
import type { Printer } from './printer';
import { createKeyView } from './views';

interface AccountOption {
  readonly account?: bigint;
}

interface ExpiresOption {
  readonly expires?: Date;
}

interface ScopeOption {
  readonly scope?: readonly string[];
}

/** Adds the commands for API keys. */
export function addKeyCommands(program: Command, printer: Printer): void {
  const keys = program.command('keys').description('manage the API keys of accounts');
  addAccountArgument(keys.command('create'))
    .description('issue a key, which is printed once and never stored')
    .addOption(createScopeOption())
    .addOption(createExpiresOption())
    .action((argument: bigint | undefined, options: AccountOption & ExpiresOption & ScopeOption, command: Command) => {
      const { expires, scope = ['write'] } = options;
      const id = requireAccountId(argument, options, command);
      return printer.printOne(async (services) => {
        const { key, secret } = await services.keys.create(id, expires, joinScopes(scope));
        return { ...createKeyView(services, printer.isJson, key), key: secret };
      });
    });
  addAccountArgument(keys.command('list'))
    .description('list the keys of an account, and their states')
    .action((argument: bigint | undefined, options: AccountOption, command: Command) => {
      const id = requireAccountId(argument, options, command);
      return printer.printMany(async (services) => {
        const keys = await services.keys.list(id);
        const account = await services.accounts.get(id);
        const usages = await readSharedUsage(services, printer, 'The ban state of the keys', account, keys);
        return keys.map((key, index) => createKeyView(services, printer.isJson, key, usages?.[index]));
      });
    });
  keys
    .command('rotate')
    .description('issue a key that replaces another; the new key is printed once and never stored')
    .argument('<key-id>', 'ID of the key to replace', parseId)
    .addOption(
      new Option(
        '--grace <duration>',
        'how long the old key stays valid, from 0 to 7d, but no longer than its own expiry',
      )
        .argParser(parseDuration)
        .default(DEFAULT_GRACE_MS, '24h'),
    )
    .addOption(createExpiresOption())
    .action((id: bigint, { grace, expires }: ExpiresOption & { readonly grace: number }) =>
      printer.printOne(async (services) => {
        const { key, secret, oldExpiresAt } = await services.keys.rotate(id, grace, expires);
        const old = { oldKeyId: id, oldKeyExpiresAt: oldExpiresAt.toISOString() };
        return { ...createKeyView(services, printer.isJson, key), ...old, key: secret };
      }),
    );
  keys
    .command('set-scope')
    .description('change the scope of a key; takes effect on every replica within a second')
    .argument('<key-id>', 'ID of the key', parseId)
    .addArgument(new Argument('<scope...>', 'what the key can do').choices(SCOPES))
    .action((id: bigint, scopes: readonly string[]) =>
      printer.printOne(async (services) =>
        createKeyView(services, printer.isJson, await services.keys.setScope(id, joinScopes(scopes))),
      ),
    );
  keys
    .command('unban')
    .description('lift the ban of a key; takes effect on every replica within a second')
    .argument('<key-id>', 'ID of the key', parseId)
    .action((id: bigint) =>
      printer.printOne(async (services) => createKeyView(services, printer.isJson, await services.keys.unban(id))),
    );
  keys
    .command('revoke')
    .description('revoke a key; every replica rejects it within a second')
    .argument('<key-id>', 'ID of the key', parseId)
    .action((id: bigint) =>
      printer.printOne(async (services) => createKeyView(services, printer.isJson, await services.keys.revoke(id))),
    );
}

/** Adds the argument for an account. The hidden option is an older form that still works. */
function addAccountArgument(command: Command): Command {
  return command
    .usage('[options] <account-id>')
    .argument('[account-id]', 'ID of the account', parseId)
    .addOption(new Option('--account <id>').argParser(parseId).hideHelp());
}

function requireAccountId(argument: bigint | undefined, { account }: AccountOption, command: Command): bigint {
  const [id, another] = [argument, account].filter((each) => each !== undefined);
  if (id === undefined || another !== undefined) {
    command.error('error: specify exactly one account ID');
  }
  return id;
}

function createExpiresOption(): Option {
  return new Option(
    '--expires <time>',
    'when the new key expires: a date (at 00:00 UTC), or a time with a time zone',
  ).argParser(parseTime);
}

/** The option can be repeated, and also followed by the argument of the command, which a variadic option would take. */
function createScopeOption(): Option {
  const choices = SCOPES.join(', ');
  return new Option(
    '--scope <scope>',
    `what the key can do; repeat it for several scopes (choices: ${choices}; default: write)`,
  ).argParser((scope, others: readonly string[] = []) => {
    if (!SCOPES.includes(scope)) {
      throw new InvalidArgumentError(`Allowed choices are ${choices}.`);
    }
    return [...others, scope];
  });
}

/** Joins scopes as they are stored (RFC 6749 section 3.3). */
function joinScopes(scopes: readonly string[]): string {
  return [...new Set(scopes)].join(' ');
}
