import { Agent, request } from 'node:http';
import { onEnd } from '../../support/cleanup';

/** A response, with the port it came from and the time it took. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  readonly ms: number;
  readonly port: number;
}

export interface Call {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

interface RequestOptions {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The client IP address. */
  readonly from?: string;
  /** The connections to use; a new one by default. */
  readonly agent?: Agent;
}

/** @throws if the connection breaks */
export function sendRequest(port: number, { body, from, agent, ...options }: RequestOptions): Promise<Reply> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, localAddress: from, agent: agent ?? false, ...options },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('error', reject);
        response.on('end', () => {
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers as Record<string, string>,
            body: text,
            ms: performance.now() - startedAt,
            port,
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** An HTTP client with its own API key and its own keep-alive connections. */
export class Client {
  private readonly agent = new Agent({ keepAlive: true });

  constructor(private readonly key: string) {
    onEnd(() => {
      this.close();
    });
  }

  /** @throws if the connection breaks */
  call(port: number, { method = 'GET', path = '/v1/pets', headers = {}, body }: Call = {}): Promise<Reply> {
    return sendRequest(port, {
      method,
      path,
      agent: this.agent,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  add(port: number, name: string, headers?: Readonly<Record<string, string>>): Promise<Reply> {
    return this.call(port, { method: 'POST', body: { name, categoryId: 1 }, ...(headers && { headers }) });
  }

  close(): void {
    this.agent.destroy();
  }
}

/** Runs a task `times` times, with up to `workers` runs in parallel. */
export async function runConcurrently<T>(
  workers: number,
  times: number,
  task: (index: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < times; index = next++) {
      results[index] = await task(index);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return results;
}

/** The 99th percentile of the response times, in ms. */
export function computeP99(replies: readonly Reply[]): number {
  const times = replies.map(({ ms }) => ms).sort((a, b) => a - b);
  return times[Math.ceil(times.length * 0.99) - 1] ?? 0;
}

/** Lists the different statuses, in ascending order. */
export function listStatuses(replies: readonly Pick<Reply, 'status'>[]): number[] {
  return [...new Set(replies.map(({ status }) => status))].sort((a, b) => a - b);
}

export function filterSuccessful(replies: readonly Reply[]): Reply[] {
  return replies.filter(({ status }) => status < 300);
}

export function getErrorCode({ body }: Reply): string | undefined {
  return (JSON.parse(body) as { code?: string }).code;
}
