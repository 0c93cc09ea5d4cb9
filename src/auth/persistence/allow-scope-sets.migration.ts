import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Older replicas grant nothing to a key with several scopes, or with that of a module. */
export class AllowScopeSets1795780800000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE api_keys
        DROP CONSTRAINT api_keys_scope_check,
        ADD CONSTRAINT api_keys_scope_check CHECK (scope ~ '^[a-z0-9:_-]+( [a-z0-9:_-]+)*$') NOT VALID
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE api_keys
        DROP CONSTRAINT api_keys_scope_check,
        ADD CONSTRAINT api_keys_scope_check CHECK (scope IN ('read', 'write')) NOT VALID
    `);
  }
}
