import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AddKeyRotation1795288200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE api_keys
        ADD COLUMN replaced_by bigint REFERENCES api_keys (id),
        ADD CHECK (replaced_by <> id),
        ADD CHECK (replaced_by IS NULL OR expires_at IS NOT NULL)
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_keys DROP COLUMN replaced_by');
  }
}
