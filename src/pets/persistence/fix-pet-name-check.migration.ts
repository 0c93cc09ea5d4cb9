import type { MigrationInterface, QueryRunner } from 'typeorm';

/** PostgreSQL before version 16 reads `\v` as the letter v, so the check rejected names consisting only of that letter. */
export class FixPetNameCheck1795320900000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await setCheck(runner, `E' \\t\\n\\x0B\\f\\r'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await setCheck(runner, `E' \\t\\n\\v\\f\\r'`);
  }
}

/** NOT VALID: validating all rows under this lock would block requests, and the service has always checked them. */
async function setCheck(runner: QueryRunner, whiteSpace: string): Promise<void> {
  await runner.query(`
    ALTER TABLE pets
      DROP CONSTRAINT pets_name_check,
      ADD CONSTRAINT pets_name_check
        CHECK (char_length(name) BETWEEN 1 AND 255 AND btrim(name, ${whiteSpace}) <> '') NOT VALID
  `);
}
