import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Older replicas store neither column, and replay `location`, which newer replicas therefore still store. */
export class AddResponseHead1795773600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE idempotency_records ADD COLUMN status integer, ADD COLUMN headers jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE idempotency_records DROP COLUMN status, DROP COLUMN headers');
  }
}
