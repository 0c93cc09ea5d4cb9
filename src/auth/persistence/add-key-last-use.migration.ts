import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AddKeyLastUse1795288800000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_keys ADD COLUMN last_used_at timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_keys DROP COLUMN last_used_at');
  }
}
