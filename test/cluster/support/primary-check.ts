import { createServer } from 'node:http';
import pg from 'pg';
import { listen } from '../../support/process';

/** Starts a health check for a proxy: 200 while the PostgreSQL server is the primary, otherwise 503. @returns its port */
export function startPrimaryCheck(url: string): Promise<number> {
  const server = createServer((_, response) => {
    void isPrimary(url).then((is) => response.writeHead(is ? 200 : 503).end());
  });
  return listen(server);
}

async function isPrimary(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 500 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby');
    return rows[0]?.standby === false;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
