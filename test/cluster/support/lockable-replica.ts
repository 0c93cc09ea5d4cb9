import pg from 'pg';
import { Client } from './client';
import { Replica } from './replica';
import { Server } from './servers';
import { Store } from './store';

/** A replica on a PostgreSQL server of its own, with a client, and another session there that can take locks. */
export async function startLockableReplica() {
  const postgres = await Server.postgres();
  const store = await Store.open(postgres.url);
  const another = new pg.Client(postgres.url);
  await another.connect();
  const replica = await Replica.start({ DATABASE_URL: postgres.url });
  const client = new Client(await store.createUnlimitedKey());
  const remove = async () => {
    client.close();
    await replica.program.kill('SIGKILL');
    await another.end();
    await store.close();
    await postgres.remove();
  };
  return { postgres, store, another, replica, client, remove };
}

export type LockableReplica = Awaited<ReturnType<typeof startLockableReplica>>;
