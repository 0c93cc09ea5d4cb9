import Fastify from 'fastify';
import { Redis } from 'ioredis';
import { Pool } from 'pg';
import { hashSecret, isWellFormedSecret } from '../../src/auth/api-key-secret';
import { decodeCursor, encodeCursor } from '../../src/shared/http/pagination/cursor';
import { CONSUME } from '../../src/rate-limiting/redis/scripts';

/**
 * A hand-written server for the same work on the same tables: Fastify, `pg` with prepared statements, one Redis script per request. Keys
 * are cached for a second, headers are set in one call, and JSON is written by hand.
 */
const { PORT = '', DATABASE_URL = '', REDIS_URL = '' } = process.env;
const pool = new Pool({ connectionString: DATABASE_URL, max: 10, idleTimeoutMillis: 0 });
const redis = new Redis(REDIS_URL, { enableAutoPipelining: true });

const BAN_RULES = '{"graceMs":1000,"windowMs":600000,"memoryMs":86400000,"durationsMs":[900000]}';

interface Principal {
  readonly keyId: string;
  readonly accountId: string;
  readonly perMinute: number;
  readonly perDay: number;
  readonly unbans: number;
  readonly until: number;
}
interface Reply {
  status(status: number): Reply;
  send(body: object): Reply;
}
type Row = [id: string, name: string, categoryId: string, status: string];

const cachedPrincipals = new Map<string, Principal>();
let requests = 0;
const server = Fastify({ genReqId: () => `baseline-${++requests}` });
const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'private, no-cache',
  vary: 'Authorization',
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'Deprecation, Idempotent-Replayed, Link, Location, Retry-After, Sunset, WWW-Authenticate, ' +
    'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Request-Id',
};

server.addHook('onRequest', async (request, reply) => {
  const [scheme, token = ''] = request.headers.authorization?.split(' ') ?? [];
  const principal = scheme?.toLowerCase() === 'bearer' ? await authenticate(token) : undefined;
  if (principal === undefined) {
    return fail(reply, 401, 'invalid_api_key');
  }
  const { accountId, keyId, perMinute, perDay, unbans } = principal;
  const [now, passes, , , minuteEndsAt, minuteUsed, dayEndsAt, dayUsed] = (await count(
    [`bench:{${accountId}}:windows`, `bench:{${accountId}}:ban:${keyId}`],
    ['', BAN_RULES, JSON.stringify([1, perMinute, perDay, unbans, 0])],
  )) as [number, number, number, number, number, number, number, number];
  const isMinute = perMinute - minuteUsed < perDay - dayUsed;
  const resetSeconds = Math.ceil((isMinute ? minuteEndsAt : dayEndsAt) / 1_000);
  reply.headers({
    ...HEADERS,
    'x-request-id': request.id,
    'x-ratelimit-limit': isMinute ? perMinute : perDay,
    'x-ratelimit-remaining': Math.max(0, isMinute ? perMinute - minuteUsed : perDay - dayUsed),
    'x-ratelimit-reset': resetSeconds,
  });
  if (passes !== 1) {
    reply.header('retry-after', Math.ceil(resetSeconds - now / 1_000));
    return fail(reply, 429, 'rate_limit_exceeded');
  }
  return undefined;
});

server.get<{ Querystring: { limit: number; status?: string; cursor?: string } }>(
  '/v1/pets',
  {
    schema: {
      querystring: {
        type: 'object',
        properties: {
          limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
          status: { enum: ['available', 'pending', 'sold'] },
          cursor: { type: 'string' },
        },
      },
    },
  },
  async (request, reply) => {
    const { limit, status, cursor } = request.query;
    const after = cursor === undefined ? 0n : decodeCursor(cursor, status ?? '');
    const { rows } = await pool.query<Row>(
      status === undefined
        ? {
            name: 'list',
            text: 'SELECT id, name, category_id, status FROM pets WHERE id > $1 ORDER BY id LIMIT $2',
            values: [after, limit + 1],
            rowMode: 'array',
          }
        : {
            name: 'list-status',
            text: 'SELECT id, name, category_id, status FROM pets WHERE status = $3 AND id > $1 ORDER BY id LIMIT $2',
            values: [after, limit + 1, status],
            rowMode: 'array',
          },
    );
    if (rows.length > limit) {
      rows.pop();
      const next = encodeCursor(BigInt(rows[limit - 1]?.[0] ?? 0), status ?? '');
      reply.header('link', `</v1/pets?limit=${limit}${status ? `&status=${status}` : ''}&cursor=${next}>; rel="next"`);
    }
    return `[${rows.map(json).join(',')}]`;
  },
);

server.get<{ Params: { petId: string } }>('/v1/pets/:petId', async (request, reply) => {
  const { rows } = await pool.query<Row>({
    name: 'get',
    text: 'SELECT id, name, category_id, status FROM pets WHERE id = $1',
    values: [request.params.petId],
    rowMode: 'array',
  });
  const [row] = rows;
  if (row === undefined) {
    return fail(reply, 404, 'pet_not_found');
  }
  reply.headers({
    deprecation: '@1795219200',
    sunset: 'Thu, 05 Dec 2030 00:00:00 GMT',
    link: '</docs/reference#/pets/getPet>; rel="deprecation"; type="text/html", </v1/pets>; rel="successor-version"',
  });
  return json(row);
});

server.post<{ Body: { name: string; categoryId: number; status: string } }>(
  '/v1/pets',
  {
    schema: {
      body: {
        type: 'object',
        required: ['name', 'categoryId'],
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 255, pattern: '\\S' },
          categoryId: { type: 'integer' },
          status: { enum: ['available', 'pending', 'sold'], default: 'available' },
        },
      },
    },
  },
  async ({ body: { name, categoryId, status } }, reply) => {
    const { rows } = await pool.query<[string]>({
      name: 'add',
      text: 'INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING id',
      values: [name, categoryId, status],
      rowMode: 'array',
    });
    const id = rows[0]?.[0] ?? '';
    reply.status(201).header('location', `/v1/pets/${id}`);
    return json([id, name, `${categoryId}`, status]);
  },
);

async function authenticate(token: string): Promise<Principal | undefined> {
  const now = Date.now();
  const known = cachedPrincipals.get(token);
  if (known !== undefined && known.until > now) {
    return known;
  }
  if (!isWellFormedSecret(token, 'production')) {
    return undefined;
  }
  const { rows } = await pool.query<Omit<Principal, 'until'>>({
    name: 'key',
    text: `SELECT k.id AS "keyId", k.account_id AS "accountId", a.per_minute AS "perMinute", a.per_day AS "perDay", k.unbans
           FROM api_keys k JOIN accounts a ON a.id = k.account_id
           WHERE k.hash = $1 AND k.revoked_at IS NULL`,
    values: [hashSecret(token)],
  });
  const [key] = rows;
  if (key === undefined) {
    return undefined;
  }
  const principal = { ...key, until: now + 1_000 };
  cachedPrincipals.set(token, principal);
  return principal;
}

function count(keys: string[], values: (string | number)[]): Promise<unknown> {
  return redis.evalsha(CONSUME.sha1, keys.length, ...keys, ...values);
}

function json([id, name, categoryId, status]: Row): string {
  return `{"id":${id},"name":${JSON.stringify(name)},"categoryId":${categoryId},"status":"${status}"}`;
}

function fail(reply: Reply, status: number, code: string): Reply {
  return reply.status(status).send({ code, message: 'The request was rejected.', status });
}

void redis.script('LOAD', CONSUME.source).then(async () => {
  await server.listen({ port: Number(PORT), host: '127.0.0.1' });
  process.stdout.write('Listening\n');
});
