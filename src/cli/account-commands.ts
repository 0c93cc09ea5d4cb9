import { type Command, Option } from 'commander';
import { type Plan, PLANS } from '../auth';
import { parseRequestLimit, parseId } from './arguments';
import { readSharedUsage } from './rate-limit-usage';
import type { Printer, View } from './printer';
import { createAccountView, createAccountWithKeysView, createWindowsView } from './views';

interface PlanOptions {
  readonly plan: Plan;
  readonly perMinute?: number;
  readonly perDay?: number;
}

/** Adds the commands for accounts. */
export function addAccountCommands(program: Command, printer: Printer): void {
  const accounts = program.command('accounts').description('manage accounts: customers with one plan each');
  withPlanOptions(accounts.command('create').requiredOption('--name <name>', 'name of the customer'))
    .description('create an account')
    .action(({ name, plan, ...allowance }: PlanOptions & { readonly name: string }) =>
      printer.printOne(async (services) => createAccountView(await services.accounts.create(name, plan, allowance))),
    );
  withPlanOptions(accounts.command('set-plan'))
    .description('change the plan of an account; takes effect on every replica within a second')
    .argument('<account-id>', 'ID of the account', parseId)
    .action((id: bigint, { plan, ...allowance }: PlanOptions) =>
      printer.printOne(async (services) => createAccountView(await services.accounts.setPlan(id, plan, allowance))),
    );
  for (const [name, description] of [
    ['suspend', 'reject all keys of an account until it is resumed'],
    ['resume', 'accept the keys of a suspended account again'],
  ] as const) {
    accounts
      .command(name)
      .description(`${description}; takes effect on every replica within a second`)
      .argument('<account-id>', 'ID of the account', parseId)
      .action((id: bigint) =>
        printer.printOne(async (services) => createAccountView(await services.accounts[name](id))),
      );
  }
  accounts
    .command('delete')
    .description('delete a suspended account and the rows that belong to it, such as its keys; the audit trail stays')
    .argument('<account-id>', 'ID of the account', parseId)
    .option('--yes', 'delete; otherwise, only the number of rows is printed')
    .action((id: bigint, { yes }: { readonly yes?: true }) =>
      printer.printOne(async ({ accounts: service }): Promise<View> => {
        if (yes) {
          return { id, deletedRows: await service.delete(id) };
        }
        const rows = await service.countRows(id);
        printer.printNote('Nothing was deleted. To delete the account and these rows, add --yes.');
        return { id, rows };
      }),
    );
  accounts
    .command('show')
    .description('show an account, its limits, its number of keys, and its rate limit usage')
    .argument('<account-id>', 'ID of the account', parseId)
    .action((id: bigint) =>
      printer.printOne(async (services) => {
        const account = await services.accounts.get(id);
        const keys = await services.keys.list(id);
        // No key has ID 0, so no ban applies: this reads the windows of the account only.
        const noKey = { id: 0n, unbanCount: 0 };
        const usages = await readSharedUsage(services, printer, 'The rate limit usage', account, [noKey]);
        return { ...createAccountWithKeysView(account, keys, services.clock.now()), ...createWindowsView(usages?.[0]) };
      }),
    );
  accounts
    .command('list')
    .description('list all accounts')
    .action(() => printer.printMany(async (services) => (await services.accounts.list()).map(createAccountView)));
}

function withPlanOptions(command: Command): Command {
  return command
    .addOption(new Option('--plan <plan>', 'plan of the account').choices(PLANS).makeOptionMandatory())
    .option('--per-minute <requests>', 'requests per minute, for the enterprise plan', parseRequestLimit)
    .option('--per-day <requests>', 'requests per day, for the enterprise plan', parseRequestLimit);
}
