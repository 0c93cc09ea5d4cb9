import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AddAccountSuspension1795784400000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE accounts ADD COLUMN suspended_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE accounts DROP COLUMN suspended_at');
  }
}
