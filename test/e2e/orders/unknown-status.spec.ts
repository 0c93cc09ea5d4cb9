import { IDENTIFIER } from '../../../src/config/brand';
import { OrderSchema } from '../../../src/orders/persistence/order.schema';
import { PetSchema } from '../../../src/pets/persistence/pet.schema';
import { getCode, TestService } from '../../support/service';
import { Customer, getIds } from './support';

describe('A status that a newer version of the service stored', () => {
  let service: TestService;
  let customer: Customer;
  const lines: string[] = [];

  beforeAll(async () => {
    service = await TestService.start(
      { APP_ENV: 'production', LOG_LEVEL: 'warn' },
      { write: (line) => lines.push(line) },
    );
    customer = await Customer.create(service);
  });
  afterAll(() => service.close());

  /** Sets the status without the constraint, which a newer version would change. */
  const setStatus = async (table: 'orders' | 'pets', id: number, status: string, work: () => Promise<void>) => {
    const name = `${table}_status_check`;
    const { checks = [] } = (table === 'orders' ? OrderSchema : PetSchema).options;
    await service.queryAsAdmin(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
    await service.queryAsAdmin(`UPDATE ${table} SET status = $1 WHERE id = $2`, [status, id]);
    await work();
    await service.queryAsAdmin('TRUNCATE pets CASCADE');
    const expression = checks.find((check) => check.name === name)?.expression ?? '';
    await service.queryAsAdmin(`ALTER TABLE ${table} ADD CONSTRAINT ${name} CHECK (${expression})`);
  };

  it('costs only the order that has it: lists leave it out, its own URL is 503, and the log says it once', async () => {
    const [first, second, third] = [await customer.placeOne(), await customer.placeOne(), await customer.placeOne()];
    await setStatus('orders', second.id, 'returned', async () => {
      expect(getIds(await customer.list())).toEqual([first.id, third.id]);
      const page = await customer.list('?limit=2');
      expect(getIds(page)).toEqual([first.id]);
      expect(page.headers.link).toContain('rel="next"');
      const response = await customer.get(second.id);
      expect([response.status, getCode(response)]).toEqual([503, 'service_unavailable']);
      expect(response.headers['retry-after']).toBe('1');
      expect((await customer.get(third.id)).status).toBe(200);
      expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
        { 'event.action': 'unknown_value', [IDENTIFIER]: { record: `order ${second.id}`, status: 'returned' } },
      ]);
    });
  });

  it('makes an animal unavailable for orders', async () => {
    const id = await customer.addPet();
    await setStatus('pets', id, 'reserved', async () => {
      expect(getCode(await customer.place({ petId: id }))).toBe('pet_not_available');
    });
  });
});
