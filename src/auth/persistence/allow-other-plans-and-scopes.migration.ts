import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The code knows the plans and scopes; a replica serves what it does not know as docs/extending.md says. */
export class AllowOtherPlansAndScopes1795780800000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE accounts
        DROP CONSTRAINT accounts_plan_check,
        ADD CONSTRAINT accounts_plan_check CHECK (plan ~ '^[a-z0-9_-]+$') NOT VALID;
      ALTER TABLE api_keys
        DROP CONSTRAINT api_keys_scope_check,
        ADD CONSTRAINT api_keys_scope_check CHECK (scope ~ '^[a-z0-9:_-]+( [a-z0-9:_-]+)*$') NOT VALID;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE accounts
        DROP CONSTRAINT accounts_plan_check,
        ADD CONSTRAINT accounts_plan_check CHECK (plan IN ('free', 'pro', 'business', 'enterprise')) NOT VALID;
      ALTER TABLE api_keys
        DROP CONSTRAINT api_keys_scope_check,
        ADD CONSTRAINT api_keys_scope_check CHECK (scope IN ('read', 'write')) NOT VALID;
    `);
  }
}
