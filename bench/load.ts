import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import autocannon from 'autocannon';

/** The default number of connections. */
export const CONNECTIONS = 32;

export interface Request {
  readonly method: 'GET' | 'POST';
  /** Each request uses a random one. */
  readonly paths: readonly string[];
  readonly body?: string;
}

export interface Measurement {
  /** Responses per second. */
  readonly rate: number;
  /** The 99th percentile of the response time, in ms. */
  readonly p99: number;
}

/** The load generator: wrk if installed, because it uses the least CPU time. */
export const GENERATOR = hasWrk() ? 'wrk' : 'autocannon';

/**
 * Sends requests over some connections for some seconds, each with one of the keys at random.
 * @throws when a response has another status than expected
 */
export function load(
  origin: string,
  keys: readonly string[],
  request: Request,
  expectedStatus: number,
  seconds: number,
  connections = CONNECTIONS,
): Promise<Measurement> {
  return (GENERATOR === 'wrk' ? runWrk : runAutocannon)(origin, keys, request, expectedStatus, seconds, connections);
}

async function runWrk(
  origin: string,
  keys: readonly string[],
  { method, paths, body }: Request,
  expectedStatus: number,
  seconds: number,
  connections: number,
): Promise<Measurement> {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
  const [script, keysFile] = [join(directory, 'wrk.lua'), join(directory, 'keys')];
  const toLuaLiteral = (text: string) => `[==[${text}]==]`;
  // In a file, because Lua allows at most 65,536 literals.
  writeFileSync(keysFile, keys.join('\n'));
  writeFileSync(
    script,
    `
    local paths, requests = {${paths.map(toLuaLiteral).join(',')}}, {}
    ${body === undefined ? '' : `wrk.headers['Content-Type'] = 'application/json' wrk.body = ${toLuaLiteral(body)}`}
    function init()
      math.randomseed(os.time())
      local keys = {}
      for key in io.lines(${toLuaLiteral(keysFile)}) do table.insert(keys, key) end
      for i = 1, math.max(#keys, #paths) do
        wrk.headers['Authorization'] = 'Bearer ' .. keys[(i - 1) % #keys + 1]
        requests[i] = wrk.format('${method}', paths[(i - 1) % #paths + 1])
      end
    end
    function request() return requests[math.random(#requests)] end
    unexpected = 0
    function response(status) if status ~= ${expectedStatus} then unexpected = unexpected + 1 end end
    local threads = {}
    function setup(thread) table.insert(threads, thread) end
    function done(summary, latency)
      local unexpected = 0
      for _, thread in ipairs(threads) do unexpected = unexpected + thread:get('unexpected') end
      io.write(string.format('RESULT {"requests":%d,"microseconds":%d,"p99":%d,"unexpected":%d,"broken":%d}',
        summary.requests, summary.duration, latency:percentile(99), unexpected,
        summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
    end`,
  );
  const { stdout } = await promisify(execFile)('wrk', [
    ...['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script],
    origin,
  ]).finally(() => {
    rmSync(directory, { recursive: true });
  });
  const result = JSON.parse(/RESULT (.*)/.exec(stdout)?.[1] ?? '') as Record<
    'requests' | 'microseconds' | 'p99' | 'unexpected' | 'broken',
    number
  >;
  requireExpected(result.unexpected + result.broken, expectedStatus, origin);
  return { rate: (result.requests / result.microseconds) * 1e6, p99: result.p99 / 1_000 };
}

async function runAutocannon(
  origin: string,
  keys: readonly string[],
  { method, paths, body }: Request,
  expectedStatus: number,
  seconds: number,
  connections: number,
): Promise<Measurement> {
  const contentType = body !== undefined && { 'content-type': 'application/json' };
  const pick = (values: readonly string[]) => values[Math.floor(Math.random() * values.length)] ?? '';
  const setupRequest = (request: autocannon.Request): autocannon.Request => ({
    ...request,
    path: pick(paths),
    headers: { authorization: `Bearer ${pick(keys)}`, ...contentType },
  });
  const result = await autocannon({
    url: origin,
    connections,
    duration: seconds,
    requests: [{ method, setupRequest, ...(body !== undefined && { body }) }],
  });
  const byStatus = result as unknown as { statusCodeStats: Record<string, { count: number }> };
  const expected = byStatus.statusCodeStats[expectedStatus]?.count ?? 0;
  requireExpected(result.requests.total - expected + result.errors, expectedStatus, origin);
  return { rate: result.requests.total / result.duration, p99: result.latency.p99 };
}

function requireExpected(unexpected: number, expectedStatus: number, origin: string): void {
  if (unexpected > 0) {
    throw new Error(`${unexpected} requests to ${origin} did not return ${expectedStatus}.`);
  }
}

function hasWrk(): boolean {
  try {
    execFileSync('which', ['wrk']);
    return true;
  } catch {
    return false;
  }
}
