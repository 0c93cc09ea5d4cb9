import { AccountsService, KeysService } from '../../src/auth';
import { rate, TestService } from '../support/service';

describe('An account', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.close());

  it('has the allowance of its new plan within a second, and what it used already stays used', async () => {
    const account = await service.app.get(AccountsService).create('Test', 'free');
    const { secret: key } = await service.app.get(KeysService).create(account.id);
    expect(rate(await service.get('/v1/pets', { key }))).toMatchObject({ limit: 60, remaining: 59 });
    await service.app.get(AccountsService).setPlan(account.id, 'enterprise', { perMinute: 5, perDay: 1_000 });
    service.clock.advance(1_000);
    expect(rate(await service.get('/v1/pets', { key }))).toMatchObject({ limit: 5, remaining: 3 });
    await service.app.get(AccountsService).setPlan(account.id, 'pro');
    service.clock.advance(1_000);
    expect(rate(await service.get('/v1/pets', { key }))).toMatchObject({ limit: 300, remaining: 297 });
  });
});
