import pg from 'pg';
import { Client } from './client';
import { Replica } from './replica';
import { Server } from './servers';
import { Store } from './store';

/** Starts a replica with its own PostgreSQL server, a client, and another database session that can take locks. */
export async function startLockableReplica() {
  const postgres = await Server.startPostgres();
  const store = await Store.open(postgres.url);
  const otherSession = new pg.Client(postgres.url);
  await otherSession.connect();
  const replica = await Replica.start({ DATABASE_URL: postgres.url });
  const client = new Client(await store.createUnlimitedKey());
  const remove = async () => {
    client.close();
    await replica.program.kill('SIGKILL');
    await otherSession.end();
    await store.close();
    await postgres.remove();
  };
  return { postgres, store, otherSession, replica, client, remove };
}

export type LockableReplica = Awaited<ReturnType<typeof startLockableReplica>>;
