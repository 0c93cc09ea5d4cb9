import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateAuditEntries1795287600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Without foreign keys, so that entries remain even if the account or key is deleted.
    await runner.query(`
      CREATE TABLE audit_entries (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        at timestamptz NOT NULL,
        operator text NOT NULL CHECK (operator <> ''),
        act text NOT NULL CHECK (act <> ''),
        account_id bigint NOT NULL,
        key_id bigint,
        details json NOT NULL CHECK (json_typeof(details) = 'object')
      );
      CREATE FUNCTION audit_entries_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          RAISE EXCEPTION 'audit_entries is append-only: it takes no %', TG_OP;
        END
      $$;
      CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_entries
        FOR EACH STATEMENT EXECUTE FUNCTION audit_entries_refuse_change();
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE audit_entries; DROP FUNCTION audit_entries_refuse_change()');
  }
}
