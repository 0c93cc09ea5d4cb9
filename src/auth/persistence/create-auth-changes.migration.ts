import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateAuthChanges1795296000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // Every change except the last use is recorded, so that columns added later are covered too.
    await runner.query(`
      CREATE TABLE auth_changes (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        transaction_id xid8 NOT NULL DEFAULT pg_current_xact_id(),
        account_id bigint
      );
      COMMENT ON COLUMN auth_changes.account_id IS 'Whose keys are to be looked up again; null for all accounts.';
      CREATE INDEX auth_changes_transaction_id ON auth_changes (transaction_id);
      CREATE FUNCTION record_auth_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF TG_OP = 'TRUNCATE' THEN
            INSERT INTO auth_changes (account_id) VALUES (NULL);
          ELSIF TG_TABLE_NAME = 'accounts' THEN
            INSERT INTO auth_changes (account_id) VALUES (OLD.id);
          ELSE
            IF TG_OP = 'UPDATE' THEN
              OLD.last_used_at := NEW.last_used_at;
              IF OLD IS NOT DISTINCT FROM NEW THEN
                RETURN NULL;
              END IF;
            END IF;
            INSERT INTO auth_changes (account_id) VALUES (OLD.account_id);
          END IF;
          RETURN NULL;
        END
      $$;
      CREATE TRIGGER record_auth_change AFTER UPDATE OR DELETE ON accounts
        FOR EACH ROW EXECUTE FUNCTION record_auth_change();
      CREATE TRIGGER record_auth_change AFTER UPDATE OR DELETE ON api_keys
        FOR EACH ROW EXECUTE FUNCTION record_auth_change();
      CREATE TRIGGER record_auth_truncate AFTER TRUNCATE ON accounts
        FOR EACH STATEMENT EXECUTE FUNCTION record_auth_change();
      CREATE TRIGGER record_auth_truncate AFTER TRUNCATE ON api_keys
        FOR EACH STATEMENT EXECUTE FUNCTION record_auth_change();
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TRIGGER record_auth_change ON accounts;
      DROP TRIGGER record_auth_change ON api_keys;
      DROP TRIGGER record_auth_truncate ON accounts;
      DROP TRIGGER record_auth_truncate ON api_keys;
      DROP FUNCTION record_auth_change();
      DROP TABLE auth_changes;
    `);
  }
}
