import { command, json } from '../support/command-line';

describe('petstore, the command line', () => {
  it('prints tables for people', async () => {
    await command('accounts create --name Gamma --plan pro');
    const { code, stdout } = await command('accounts list');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^id +name +plan +perMinute +perDay +createdAt\n/);
    expect(stdout).toMatch(/\n\d+ +Gamma +pro +300 +10000 +\d{4}-/);
  });

  it('says that there is nothing, in words for people and as an empty list for programs', async () => {
    const { id } = await json<{ id: number }>('accounts create --name Delta --plan free');
    expect((await command(`keys list --account ${id}`)).stdout).toBe('None.\n');
    expect(await json(`keys list --account ${id}`)).toEqual([]);
  });

  it.each([
    'accounts create --name A --plan gold',
    'accounts create --plan free',
    'accounts create --name A --plan enterprise',
    'accounts create --name A --plan enterprise --per-minute 0 --per-day 5',
    'accounts create --name A --plan enterprise --per-minute 1.5 --per-day 5',
    'accounts create --name A --plan free --per-minute 5',
    'keys create',
    'keys create --account abc',
    'keys revoke',
    'keys revoke -1',
    'keys revoke 1 2',
    'nonsense',
    'accounts nonsense',
    'accounts list --nonsense',
  ])('refuses "%s" with a clear line and exit 2', async (line) => {
    const { code, stdout, stderr } = await command(line);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^error: .+\n/);
  });

  it.each(['keys create --account 999', 'keys list --account 999', 'keys revoke 999'])(
    'says that "%s" names nothing, with exit 1',
    async (line) => {
      const { code, stdout, stderr } = await command(`${line} --json`);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/^error: No (account|key) has the id 999\.\n$/);
    },
  );

  it.each([
    '--help',
    'accounts --help',
    'accounts create --help',
    'keys revoke --help',
    'migrate --help',
    'openapi --help',
  ])('explains itself: %s', async (line) => {
    const { code, stdout } = await command(line);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: petstore/);
  });

  it('says in one line what is wrong with a setting', async () => {
    const { code, stderr } = await command('accounts list', { PORT: 'abc' });
    expect([code, stderr]).toEqual([1, 'error: PORT must be a whole number from 1 to 65535.\n']);
  });
});
