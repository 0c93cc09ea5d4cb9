// The data source of a project that has changed: a column, an entity, and the compiled migrations in a directory.
const { readdirSync } = require('node:fs');
const { join } = require('node:path');
const { EntitySchema } = require('typeorm');
const { FEATURE_MODULES } = require('../../dist/src/feature-modules.js');
const { PetSchema } = require('../../dist/src/pets/persistence/pet.schema.js');
const { bigintColumn, identityColumn } = require('../../dist/src/shared/persistence/columns.js');

PetSchema.options.columns.note = { type: 'text', nullable: true };
PetSchema.options.indices.push({ columns: ['note'] });
const ToySchema = new EntitySchema({
  name: 'Toy',
  tableName: 'toys',
  columns: { id: identityColumn, petId: { ...bigintColumn, name: 'pet_id' }, price: { type: 'integer', default: 0 } },
  uniques: [{ columns: ['petId', 'price'] }],
  indices: [{ columns: ['price'] }],
  checks: [{ expression: 'price >= 0' }],
  foreignKeys: [{ target: 'Pet', columnNames: ['petId'], referencedColumnNames: ['id'] }],
});
const directory = process.env.MIGRATIONS;
const files = readdirSync(directory).filter((name) => name.endsWith('.js'));
const migrations = files.flatMap((name) => Object.values(require(join(directory, name))));
FEATURE_MODULES.push({ schemas: [ToySchema], migrations });

module.exports = require('../../dist/ormconfig.js');
