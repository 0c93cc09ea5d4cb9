import { createServer, type Server as HttpServer } from 'node:http';
import pg from 'pg';
import { findFreePort } from '../../support/process';

/** A health check for a proxy: 200 while the PostgreSQL server is the primary, 503 while it is a standby or down. */
export class PrimaryCheck {
  private constructor(
    private readonly server: HttpServer,
    readonly port: string,
  ) {}

  static async start(url: string): Promise<PrimaryCheck> {
    const port = await findFreePort();
    const server = createServer((_, response) => {
      void isPrimary(url).then((is) => response.writeHead(is ? 200 : 503).end());
    });
    await new Promise<void>((listening) => server.listen(Number(port), '127.0.0.1', listening));
    return new PrimaryCheck(server, port);
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
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
