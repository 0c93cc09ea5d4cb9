import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import autocannon from 'autocannon';

export const CONNECTIONS = 32;

export interface Request {
  readonly method: 'GET' | 'POST';
  /** The paths asked for in turn. */
  readonly paths: readonly string[];
  readonly body?: string;
}

export interface Measurement {
  /** Answers per second. */
  readonly rate: number;
  /** The time under which 99 of 100 answers came, in ms. */
  readonly p99: number;
}

/** Which load generator is used: wrk, which costs least, where it is installed. */
export const GENERATOR = hasWrk() ? 'wrk' : 'autocannon';

/** Sends requests over 32 connections for some seconds. @throws when an answer has another status than expected */
export function load(
  origin: string,
  key: string,
  request: Request,
  expectedStatus: number,
  seconds: number,
): Promise<Measurement> {
  return (GENERATOR === 'wrk' ? withWrk : withAutocannon)(origin, key, request, expectedStatus, seconds);
}

async function withWrk(
  origin: string,
  key: string,
  { method, paths, body }: Request,
  expectedStatus: number,
  seconds: number,
): Promise<Measurement> {
  const script = join(mkdtempSync(join(tmpdir(), 'petstore-bench-')), 'wrk.lua');
  const literal = (text: string) => `[==[${text}]==]`;
  writeFileSync(
    script,
    `
    wrk.headers['Authorization'] = ${literal(`Bearer ${key}`)}
    ${body === undefined ? '' : `wrk.headers['Content-Type'] = 'application/json' wrk.body = ${literal(body)}`}
    local requests, turn = {}, 0
    function init()
      for i, path in ipairs({${paths.map(literal).join(',')}}) do requests[i] = wrk.format('${method}', path) end
    end
    function request()
      turn = turn % #requests + 1
      return requests[turn]
    end
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
    ...['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', script],
    origin,
  ]);
  const result = JSON.parse(/RESULT (.*)/.exec(stdout)?.[1] ?? '') as Record<
    'requests' | 'microseconds' | 'p99' | 'unexpected' | 'broken',
    number
  >;
  requireExpected(result.unexpected + result.broken, expectedStatus, origin);
  return { rate: (result.requests / result.microseconds) * 1e6, p99: result.p99 / 1_000 };
}

async function withAutocannon(
  origin: string,
  key: string,
  { method, paths, body }: Request,
  expectedStatus: number,
  seconds: number,
): Promise<Measurement> {
  const headers = { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) };
  const result = await autocannon({
    url: origin,
    connections: CONNECTIONS,
    duration: seconds,
    requests: paths.map((path) => ({ method, path, headers, ...(body !== undefined && { body }) })),
  });
  const byStatus = result as unknown as { statusCodeStats: Record<string, { count: number }> };
  const expected = byStatus.statusCodeStats[expectedStatus]?.count ?? 0;
  requireExpected(result.requests.total - expected + result.errors, expectedStatus, origin);
  return { rate: result.requests.total / result.duration, p99: result.latency.p99 };
}

function requireExpected(unexpected: number, expectedStatus: number, origin: string): void {
  if (unexpected > 0) {
    throw new Error(`${unexpected} requests to ${origin} were not answered with ${expectedStatus}.`);
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
