import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateIdempotencyRecords1795278000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE idempotency_records (
        account_id bigint NOT NULL REFERENCES accounts (id),
        key text NOT NULL CHECK (char_length(key) BETWEEN 1 AND 255),
        fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
        body text,
        location text,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (account_id, key)
      );
      CREATE INDEX idempotency_records_created_at ON idempotency_records (created_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE idempotency_records');
  }
}
