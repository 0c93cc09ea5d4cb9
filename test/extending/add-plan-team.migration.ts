import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AddPlanTeam1795292000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE accounts
        DROP CONSTRAINT accounts_plan_check,
        ADD CONSTRAINT accounts_plan_check CHECK (plan IN ('free', 'pro', 'team', 'business', 'enterprise')) NOT VALID
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE accounts
        DROP CONSTRAINT accounts_plan_check,
        ADD CONSTRAINT accounts_plan_check CHECK (plan IN ('free', 'pro', 'business', 'enterprise'))
    `);
  }
}
