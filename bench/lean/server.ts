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
const COUNT = `
  local used = redis.call('INCR', KEYS[1])
  if used == 1 then redis.call('EXPIRE', KEYS[1], 60) end
  return {used, redis.call('TTL', KEYS[1])}`;
const redis = new Redis(REDIS_URL, {
  enableAutoPipelining: true,
  scripts: { countRequest: { numberOfKeys: 1, lua: COUNT } },
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
const [INTEGER, TEXT] = [{ type: 'integer' }, { type: 'string' }];
const STATUS = { enum: ['available', 'pending', 'sold'] };
const PET = { type: 'object', properties: { id: INTEGER, name: TEXT, categoryId: INTEGER, status: TEXT } };
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

const LIMIT = { type: 'integer', minimum: 1, maximum: 100, default: 20 };
const listSchema = {
  querystring: { type: 'object', properties: { limit: LIMIT, status: STATUS } },
  response: { 200: { type: 'array', items: PET } },
};
server.get<{ Querystring: { limit: number; status?: string } }>(
  '/v1/pets',
  { schema: listSchema },
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

const NAME = { type: 'string', minLength: 1, maxLength: 255 };
const properties = { name: NAME, categoryId: INTEGER, status: { ...STATUS, default: 'available' } };
const createSchema = { body: { type: 'object', required: ['name', 'categoryId'], properties }, response: { 201: PET } };
const INSERT = `INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING ${COLUMNS}`;
server.post<{ Body: Omit<Pet, 'id'> }>('/v1/pets', { schema: createSchema }, async ({ body }, reply) => {
  const [pet] = await query('add', INSERT, [body.name, body.categoryId, body.status]);
  return reply.status(201).send(pet);
});

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

void server.listen({ port: Number(PORT), host: '127.0.0.1' });
