import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateOrders1795291200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // One index for each way to list an account's orders.
    await runner.query(`
      CREATE TABLE orders (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        account_id bigint NOT NULL REFERENCES accounts (id),
        pet_id bigint NOT NULL REFERENCES pets (id),
        quantity integer NOT NULL CHECK (quantity BETWEEN 1 AND 100),
        status text NOT NULL CHECK (status IN ('placed', 'approved', 'delivered')),
        ship_date timestamptz,
        placed_at timestamptz NOT NULL
      );
      CREATE INDEX orders_account_id ON orders (account_id, id);
      CREATE INDEX orders_account_id_status ON orders (account_id, status, id);
      CREATE INDEX orders_account_id_pet_id ON orders (account_id, pet_id, id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE orders');
  }
}
