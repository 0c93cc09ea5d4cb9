import Fastify from 'fastify';
import { Redis } from 'ioredis';
import { Pool, types } from 'pg';
import { hashSecret } from '../../src/auth/api-key-secret';

/**
 * A minimal server for the same requests: Fastify, `pg` with prepared statements, a plain counter in Redis, keys cached for ten seconds
 * regardless of changes, four headers, and numbers that are exact up to 2^53 only.
 */
const { PORT = '', DATABASE_URL = '', REDIS_URL = '' } = process.env;
types.setTypeParser(types.builtins.INT8, Number);
const pool = new Pool({ connectionString: DATABASE_URL, max: 10, idleTimeoutMillis: 0 });
const redis = new Redis(REDIS_URL, {
  enableAutoPipelining: true,
  scripts: {
    countRequest: {
      numberOfKeys: 1,
      lua: `
        local used = redis.call('INCR', KEYS[1])
        if used == 1 then
          redis.call('EXPIRE', KEYS[1], 60)
        end
        return {used, redis.call('TTL', KEYS[1])}`,
    },
  },
}) as Redis & { countRequest: (key: string) => Promise<[used: number, secondsLeft: number]> };

interface Principal {
  readonly accountId: number;
  readonly perMinute: number;
}
interface Pet {
  readonly id: number;
  readonly name: string;
  readonly categoryId: number;
  readonly status: string;
}

const CACHE_TTL_MS = 10_000;
const cachedPrincipals = new Map<string, { readonly principal: Principal; readonly until: number }>();
const PET = {
  type: 'object',
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    categoryId: { type: 'integer' },
    status: { type: 'string' },
  },
};
const COLUMNS = 'id, name, category_id AS "categoryId", status';
const server = Fastify();

server.addHook('onRequest', async (request, reply) => {
  const principal = await authenticate(request.headers.authorization?.slice('Bearer '.length) ?? '');
  if (principal === undefined) {
    return reply.status(401).send({ code: 'invalid_api_key', message: 'The key is not valid.', status: 401 });
  }
  const [used, secondsLeft] = await redis.countRequest(`lean:${principal.accountId}`);
  reply.headers({
    'x-ratelimit-limit': principal.perMinute,
    'x-ratelimit-remaining': Math.max(0, principal.perMinute - used),
    'x-ratelimit-reset': Math.ceil(Date.now() / 1_000) + secondsLeft,
  });
  if (used > principal.perMinute) {
    return reply.status(429).send({ code: 'rate_limit_exceeded', message: 'Wait.', status: 429 });
  }
  return undefined;
});

server.get<{ Querystring: { limit: number; status?: string } }>(
  '/v1/pets',
  {
    schema: {
      querystring: {
        type: 'object',
        properties: {
          limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
          status: { enum: ['available', 'pending', 'sold'] },
        },
      },
      response: { 200: { type: 'array', items: PET } },
    },
  },
  async ({ query: { limit, status } }) =>
    status === undefined
      ? query('list', `SELECT ${COLUMNS} FROM pets ORDER BY id LIMIT $1`, [limit])
      : query('list-status', `SELECT ${COLUMNS} FROM pets WHERE status = $2 ORDER BY id LIMIT $1`, [limit, status]),
);

server.get<{ Params: { petId: string } }>(
  '/v1/pets/:petId',
  { schema: { response: { 200: PET } } },
  async (request, reply) => {
    const [pet] = await query('get', `SELECT ${COLUMNS} FROM pets WHERE id = $1`, [request.params.petId]);
    return pet ?? reply.status(404).send({ code: 'pet_not_found', message: 'No such animal.', status: 404 });
  },
);

server.post<{ Body: Omit<Pet, 'id'> }>(
  '/v1/pets',
  {
    schema: {
      body: {
        type: 'object',
        required: ['name', 'categoryId'],
        properties: {
          name: { type: 'string', minLength: 1, maxLength: 255 },
          categoryId: { type: 'integer' },
          status: { enum: ['available', 'pending', 'sold'], default: 'available' },
        },
      },
      response: { 201: PET },
    },
  },
  async ({ body: { name, categoryId, status } }, reply) => {
    const [pet] = await query(
      'add',
      `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING ${COLUMNS}`,
      [name, categoryId, status],
    );
    return reply.status(201).send(pet);
  },
);

async function query(name: string, text: string, values: (string | number)[]): Promise<Pet[]> {
  return (await pool.query<Pet>({ name, text, values })).rows;
}

async function authenticate(token: string): Promise<Principal | undefined> {
  const now = Date.now();
  const known = cachedPrincipals.get(token);
  if (known !== undefined && known.until > now) {
    return known.principal;
  }
  const { rows } = await pool.query<Principal>({
    name: 'key',
    text: `SELECT account.id AS "accountId", per_minute AS "perMinute"
           FROM api_keys AS key JOIN accounts AS account ON account.id = account_id
           WHERE hash = $1 AND revoked_at IS NULL`,
    values: [hashSecret(token)],
  });
  const [principal] = rows;
  if (principal !== undefined) {
    cachedPrincipals.set(token, { principal, until: now + CACHE_TTL_MS });
  }
  return principal;
}

void server.listen({ port: Number(PORT), host: '127.0.0.1' }).then(() => {
  process.stdout.write('Listening\n');
});
