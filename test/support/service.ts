import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApp } from '../../src/app.setup';
import { AccountsService, KeysService, type Plan } from '../../src/auth';
import { loadSettings } from '../../src/config/settings';
import { createLog, type LineSink } from '../../src/observability';
import { createOpenApiDocument } from '../../src/documentation';
import type { AccountLimits } from '../../src/auth/domain/account';
import { parseJson } from '../../src/shared/json/json';
import { Conformance } from './conformance';
import { sendRaw } from './raw';
import { TestClock } from './test-clock';
import { DATABASE_URL, queryAsAdmin } from './worker-database';

export const BASE_URL = 'https://api.example.com/v1';

export interface TestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as received. */
  readonly text: string;
  /** The body parsed as JSON, with integers beyond 2^53 as bigint; undefined without a body. */
  readonly body: unknown;
}

export interface Call {
  readonly key?: string | undefined;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** A string is sent unchanged, anything else as JSON. */
  readonly body?: unknown;
}

/**
 * The service as in production, on a port and a database of the test. It checks every response against the OpenAPI document.
 */
export class TestService {
  private isMadeToFail = false;

  private constructor(
    readonly app: NestFastifyApplication,
    readonly clock: TestClock,
    readonly port: number,
    private readonly conformance: Conformance,
    private readonly errors: readonly string[],
  ) {}

  /** @param logTo receives the log lines; without it, only the cause of every 500 is printed */
  static async start(env: Readonly<Record<string, string>> = {}, logTo?: LineSink): Promise<TestService> {
    const errors: string[] = [];
    const clock = new TestClock();
    const settings = loadSettings({
      DATABASE_URL,
      PUBLIC_BASE_URL: BASE_URL,
      LOG_LEVEL: 'error',
      ...env,
    });
    const app = await createApp(settings, {
      clock,
      log: createLog(settings, logTo ?? { write: (line) => errors.push(line) }),
    });
    await app.listen(0, '127.0.0.1');
    const port = Number(new URL(await app.getUrl()).port);
    const conformance = new Conformance(createOpenApiDocument(app, settings));
    const service = new TestService(app, clock, port, conformance, errors);
    await service.queryAsAdmin('TRUNCATE pets, api_keys, accounts RESTART IDENTITY CASCADE');
    return service;
  }

  async close(): Promise<void> {
    await this.app.close();
  }

  /** Creates a key of a new account. */
  async createKey(plan: Plan = 'business', allowance?: AccountLimits): Promise<string> {
    return (await this.createKeys(1, plan, allowance))[0] ?? '';
  }

  /** Creates several keys of one new account. */
  async createKeys(count: number, plan: Plan = 'business', allowance?: AccountLimits): Promise<string[]> {
    const account = await this.app.get(AccountsService).create('Test', plan, allowance);
    const issued = [];
    for (let index = 0; index < count; index++) {
      issued.push(await this.app.get(KeysService).create(account.id));
    }
    return issued.map(({ secret }) => secret);
  }

  async call(method: string, path: string, { key, headers = {}, body }: Call = {}): Promise<TestResponse> {
    const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const request = httpRequest({
      ...{ port: this.port, host: '127.0.0.1', method, path },
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(payload !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(payload),
        }),
        ...headers,
      },
    });
    // The service may close the connection of a request whose body it does not read.
    request.on('error', () => undefined).end(payload);
    const [incoming] = (await once(request, 'response')) as [IncomingMessage];
    const text = (await buffer(incoming)).toString();
    const response: TestResponse = {
      status: incoming.statusCode ?? 0,
      headers: incoming.headers as Record<string, string>,
      text,
      body: text === '' || !incoming.headers['content-type']?.includes('json') ? undefined : parseJson(text),
    };
    if (response.status === 500 && !this.isMadeToFail) {
      const requestId = response.headers['x-request-id'] ?? '';
      process.stderr.write(this.errors.filter((line) => line.includes(requestId)).join(''));
    }
    this.conformance.check(method, path, payload, response);
    return response;
  }

  get(path: string, call?: Call): Promise<TestResponse> {
    return this.call('GET', path, call);
  }

  post(path: string, call?: Call): Promise<TestResponse> {
    return this.call('POST', path, call);
  }

  async queryAsAdmin(sql: string, parameters?: unknown[]): Promise<void> {
    await queryAsAdmin(sql, parameters);
  }

  /** Adds a constraint to a table while `work` runs, so that inserts fail. The cause of a 500 is not printed. */
  async withConstraint<T>(table: string, condition: string, work: () => Promise<T>): Promise<T> {
    await this.queryAsAdmin(`ALTER TABLE ${table} ADD CONSTRAINT test_failure CHECK (${condition}) NOT VALID`);
    this.isMadeToFail = true;
    try {
      return await work();
    } finally {
      this.isMadeToFail = false;
      await this.queryAsAdmin(`ALTER TABLE ${table} DROP CONSTRAINT test_failure`);
    }
  }

  sendRaw(bytes: string, options?: Parameters<typeof sendRaw>[2]): Promise<string> {
    return sendRaw(this.port, bytes, options);
  }
}

/** Parses the rate limit headers of a response. */
export function parseRateLimit({ headers }: TestResponse): { limit: number; remaining: number; reset: number } {
  return {
    limit: Number(headers['x-ratelimit-limit']),
    remaining: Number(headers['x-ratelimit-remaining']),
    reset: Number(headers['x-ratelimit-reset']),
  };
}

export function getCode({ body }: TestResponse): unknown {
  return (body as { code?: unknown } | undefined)?.code;
}
