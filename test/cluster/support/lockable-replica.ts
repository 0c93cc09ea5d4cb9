import { Client } from './client';
import { Replica } from './replica';
import { Server } from './servers';
import { Store } from './store';

/** Starts a replica with its own PostgreSQL server, a client, and another database session that can take locks. */
export async function startLockableReplica() {
  const postgres = await Server.startPostgres();
  const store = await Store.open(postgres.url);
  const otherSession = await postgres.openSession();
  const replica = await Replica.start({ DATABASE_URL: postgres.url });
  const client = new Client(await store.createUnlimitedKey());
  return { postgres, store, otherSession, replica, client };
}
