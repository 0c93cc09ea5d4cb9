// Opens an embedded database with an extension, and books the same animal twice for the same time. This is a separate program
// because PGlite does not run in Jest.
const { btree_gist } = require('@electric-sql/pglite/contrib/btree_gist');
const { Client } = require('pg');
const {
  EmbeddedDatabase,
  getEmbeddedDatabaseHost,
} = require('../../dist/src/shared/persistence/embedded/embedded-database.js');

const [dataDir] = process.argv.slice(2);

async function main() {
  const database = await EmbeddedDatabase.open(dataDir, { btree_gist });
  const client = new Client({ host: getEmbeddedDatabaseHost(dataDir), user: 'postgres', database: 'postgres' });
  await client.connect();
  await client.query(`
    CREATE EXTENSION btree_gist;
    CREATE TABLE appointments (pet_id bigint, during tstzrange, EXCLUDE USING gist (pet_id WITH =, during WITH &&))
  `);
  for (const petId of [1, 2, 1]) {
    const booking = client.query(`INSERT INTO appointments VALUES ($1, '[2027-01-01 09:00Z, 2027-01-01 10:00Z)')`, [
      petId,
    ]);
    const outcome = await booking.then(
      () => 'booked',
      ({ code }) => code,
    );
    process.stdout.write(`${outcome}\n`);
  }
  await client.end();
  await database.close();
}

void main();
