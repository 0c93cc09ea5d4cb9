import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateAccountsAndKeys1795219200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE accounts (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
        plan text NOT NULL CHECK (plan IN ('free', 'pro', 'business', 'enterprise')),
        per_minute integer CHECK (per_minute >= 1),
        per_day integer CHECK (per_day >= 1),
        created_at timestamptz NOT NULL,
        CHECK ((plan = 'enterprise') = (per_minute IS NOT NULL)),
        CHECK ((plan = 'enterprise') = (per_day IS NOT NULL))
      );
      CREATE TABLE api_keys (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        account_id bigint NOT NULL REFERENCES accounts (id),
        hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
        first_characters text NOT NULL CHECK (char_length(first_characters) = 4),
        created_at timestamptz NOT NULL,
        expires_at timestamptz,
        revoked_at timestamptz
      );
      CREATE INDEX api_keys_account_id ON api_keys (account_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE api_keys, accounts');
  }
}
