import { DataSource } from 'typeorm';
import { BASE_URL, getCode, TestService } from '../../support/service';
import { Customer, getIds, type Order } from './support';

describe('POST /v1/store/orders', () => {
  let service: TestService;
  let customer: Customer;

  beforeAll(async () => {
    service = await TestService.start();
    customer = await Customer.create(service);
  });
  afterAll(() => service.close());

  const getMessage = ({ body }: { body: unknown }) => (body as { message: string }).message;

  describe('201', () => {
    it('returns the placed order and its URL; the animal becomes pending', async () => {
      const petId = await customer.addPet();
      const response = await customer.place({ petId, quantity: 3, shipDate: '2027-01-31T18:00:00.5+02:00' });
      const { id } = response.body as Order;
      expect(response.status).toBe(201);
      expect(response.body).toEqual({
        id,
        petId,
        quantity: 3,
        status: 'placed',
        shipDate: '2027-01-31T16:00:00.500Z',
        placedAt: new Date(service.clock.now()).toISOString(),
      });
      expect(response.headers.location).toBe(`${BASE_URL}/store/orders/${id}`);
      expect((await customer.get(id)).text).toBe(response.text);
      expect(await customer.getStatus(petId)).toBe('pending');
    });

    it('uses quantity 1 and no shipDate if they are omitted', async () => {
      const order = (await customer.place({ petId: await customer.addPet() })).body as Order;
      expect(order).toMatchObject({ quantity: 1 });
      expect(order).not.toHaveProperty('shipDate');
    });

    it('assigns id, status, placedAt and the account itself, and stores no unknown field', async () => {
      const petId = await customer.addPet();
      const sent = { id: 10_000, status: 'delivered', placedAt: '2000-01-01T00:00:00Z', accountId: 2, account_id: 2 };
      const response = await customer.place({ petId, ...sent });
      expect(Object.keys(response.body as object)).toEqual(['id', 'petId', 'quantity', 'status', 'placedAt']);
      expect(response.body).toMatchObject({ status: 'placed', placedAt: new Date(service.clock.now()).toISOString() });
      expect((response.body as Order).id).toBeLessThan(10_000);
    });

    it.each(['1', '100', '1.0', '1e2', '100.00'])('accepts quantity %s', async (quantity) => {
      const response = await customer.place(`{"petId":${await customer.addPet()},"quantity":${quantity}}`);
      expect([response.status, (response.body as { quantity: number }).quantity]).toEqual([201, Number(quantity)]);
    });

    it.each([
      ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000Z'],
      ['9999-12-31T23:59:59.999999999Z', '9999-12-31T23:59:59.999Z'],
      ['2028-02-29T23:59:59-10:00', '2028-03-01T09:59:59.000Z'],
    ])('stores shipDate %s to the millisecond, in UTC', async (shipDate, kept) => {
      const { id } = (await customer.place({ petId: await customer.addPet(), shipDate })).body as Order;
      expect((await customer.get(id)).body).toMatchObject({ shipDate: kept });
    });

    it('preserves an int64 petId to the last digit, in the filter too, and all other numbers beside it', async () => {
      const petId = 2n ** 63n - 1n;
      await service.app
        .get(DataSource)
        .query(
          `INSERT INTO pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE VALUES ($1, 'Rex', 1, 'available')`,
          [String(petId)],
        );
      const response = await customer.place(`{"petId":${petId},"quantity":7}`);
      expect(response.text).toContain(`"petId":${petId},"quantity":7,`);
      expect((await customer.list(`?petId=${petId}`)).text).toBe(`[${response.text}]`);
    });
  });

  describe('400', () => {
    it.each<[string, string]>([
      ['{}', 'petId is required.'],
      ['{"petId":null}', 'petId must be an integer from -9223372036854775808 to 9223372036854775807.'],
      ['{"petId":"1"}', 'petId must be an integer from -9223372036854775808 to 9223372036854775807.'],
      ['{"petId":1.5}', 'petId must be an integer from -9223372036854775808 to 9223372036854775807.'],
      ['{"petId":9223372036854775808}', 'petId must be an integer from -9223372036854775808 to 9223372036854775807.'],
      ...[
        ...['0', '101', '-1', '1.5', '"1"', 'null', 'true', '[1]'],
        ...['1e400', '9223372036854775807', '1.0000000000000001'],
      ].map((quantity): [string, string] => [
        `{"petId":1,"quantity":${quantity}}`,
        'quantity must be an integer from 1 to 100.',
      ]),
      ...[
        ...['null', '0', '1795288800000', '""', '"tomorrow"', '"2027-01-31"', '"2027-01-31T18:00:00"', '{}', '[]'],
        ...['"2027-01-31 18:00:00Z"', '" 2027-01-31T18:00:00Z"', '"27-01-31T18:00:00Z"', '"+002027-01-31T18:00:00Z"'],
        ...['"2027-02-29T00:00:00Z"', '"2027-13-01T00:00:00Z"', '"2027-00-01T00:00:00Z"', '"2027-01-32T00:00:00Z"'],
        ...['"2027-01-31T24:00:00Z"', '"2027-01-31T18:60:00Z"'],
        ...['"1969-12-31T23:59:59Z"', '"9999-12-31T23:59:59-00:01"', '"0000-01-01T00:00:00Z"'],
      ].map((shipDate): [string, string] => [
        `{"petId":1,"shipDate":${shipDate}}`,
        'shipDate must be a date-time with a time zone, such as 2026-12-24T09:00:00Z, from 1970 to 9999.',
      ]),
    ])('rejects %s, naming the field', async (body, message) => {
      const response = await customer.place(body);
      expect([response.status, getCode(response), getMessage(response)]).toEqual([400, 'invalid_body', message]);
    });

    it.each(['999999', '0', '-1', '9223372036854775806'])('unknown_pet: no animal has the petId %s', async (petId) => {
      const before = await customer.list();
      const response = await customer.place(`{"petId":${petId}}`);
      expect([response.status, getCode(response)]).toEqual([400, 'unknown_pet']);
      expect((await customer.list()).text).toBe(before.text);
    });
  });

  describe('409', () => {
    it.each(['pending', 'sold'])('pet_not_available: an animal that is %s cannot be ordered', async (status) => {
      const petId = await customer.addPet(status);
      const response = await customer.place({ petId });
      expect([response.status, getCode(response)]).toEqual([409, 'pet_not_available']);
      expect(await customer.getStatus(petId)).toBe(status);
      expect(getIds(await customer.list(`?petId=${petId}`))).toEqual([]);
    });

    it('pet_not_available: an animal that any account has already ordered', async () => {
      const { petId } = await customer.placeOne();
      for (const other of [customer, await Customer.create(service)]) {
        expect(getCode(await other.place({ petId }))).toBe('pet_not_available');
      }
    });
  });

  it('leaves the animal available if the order cannot be stored', async () => {
    const petId = await customer.addPet();
    const response = await service.withConstraint('orders', 'quantity <> 99', () =>
      customer.place({ petId, quantity: 99 }),
    );
    expect(response.status).toBe(500);
    expect(await customer.getStatus(petId)).toBe('available');
    expect((await customer.place({ petId })).status).toBe(201);
  });

  it.each([
    'UPDATE orders SET quantity = 0',
    'UPDATE orders SET quantity = 101',
    `UPDATE orders SET status = 'lost'`,
    'UPDATE orders SET pet_id = 999999',
    'UPDATE orders SET account_id = 999999',
    'UPDATE orders SET placed_at = NULL',
  ])('has its rules enforced by the database too: %s', async (sql) => {
    await customer.placeOne();
    await expect(service.app.get(DataSource).query(sql)).rejects.toThrow(/violates/);
  });
});
