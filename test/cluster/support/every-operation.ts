import { AccountsService } from '../../../src/auth';
import { loadExamples } from '../../support/examples';
import { acceptsApiKeys, findSuccessStatus, OPERATIONS } from '../../support/operations';
import type { Client } from './client';
import type { Store } from './store';

const parseDate = (_: string, value: unknown) => (/^\d{4}-.*T/.test(String(value)) ? new Date(String(value)) : value);

/**
 * Calls every operation that accepts API keys, on each port in turn. It expects that all succeed, and that creations return what was
 * sent. The client must belong to the account that was created last.
 */
export async function callEveryOperation(
  store: Store,
  client: Client,
  ports: readonly number[],
  createHeaders: () => Record<string, string> = () => ({}),
): Promise<void> {
  const accountId = `${(await store.get(AccountsService).list()).at(-1)?.id}`;
  const insertExamples = await loadExamples();
  for (const port of ports) {
    for (const operation of OPERATIONS.filter(acceptsApiKeys)) {
      await insertExamples((sql) => store.query(sql), accountId);
      const headers = operation.body === undefined ? {} : createHeaders();
      const reply = await client.call(port, { ...operation, body: operation.body, headers });
      expect([operation.operationId, reply.status]).toEqual([operation.operationId, findSuccessStatus(operation)]);
      if (operation.method === 'POST') {
        const sent = JSON.stringify(operation.body);
        expect(JSON.parse(reply.body, parseDate)).toMatchObject(JSON.parse(sent, parseDate) as object);
      }
    }
  }
}
