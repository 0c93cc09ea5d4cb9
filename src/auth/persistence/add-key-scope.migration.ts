import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AddKeyScope1795332600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE api_keys ADD COLUMN scope text NOT NULL DEFAULT 'write'
        CONSTRAINT api_keys_scope_check CHECK (scope IN ('read', 'write'))
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE api_keys DROP COLUMN scope');
  }
}
