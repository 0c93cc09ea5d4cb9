import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { getErrorCode } from '../src/shared/domain/error-message';

const CONNECTIONS = 32;

export interface Request {
  readonly method: 'GET' | 'POST';
  /** Each request uses a random one. */
  readonly paths: readonly string[];
  readonly body?: string;
  readonly status: number;
}

export interface Load {
  readonly requests: number;
  readonly seconds: number;
  /** The 99th percentile of the response time, in ms. */
  readonly p99: number;
}

/**
 * Sends requests with wrk for some seconds, each with one of the keys at random.
 * @throws when wrk is missing, or a response has another status than expected
 */
export async function load(origin: string, keys: readonly string[], request: Request, seconds: number): Promise<Load> {
  const directory = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
  const [script, keysFile] = [join(directory, 'wrk.lua'), join(directory, 'keys')];
  const toLuaLiteral = (text: string) => `[==[${text}]==]`;
  const { method, paths, body, status } = request;
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
    function response(status) if status ~= ${status} then unexpected = unexpected + 1 end end
    local threads = {}
    function setup(thread) table.insert(threads, thread) end
    function done(summary, latency)
      local unexpected = 0
      for _, thread in ipairs(threads) do unexpected = unexpected + thread:get('unexpected') end
      io.write(string.format('RESULT {"requests":%d,"microseconds":%d,"p99":%d,"failed":%d}',
        summary.requests, summary.duration, latency:percentile(99), unexpected +
        summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
    end`,
  );
  const { stdout } = await promisify(execFile)('wrk', [
    ...['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '--timeout', '10s', '-s', script],
    origin,
  ])
    .catch((error: unknown) => {
      throw getErrorCode(error) === 'ENOENT'
        ? new Error('The benchmark needs wrk: apt-get install wrk, or brew install wrk.')
        : error;
    })
    .finally(() => {
      rmSync(directory, { recursive: true });
    });
  const result = JSON.parse(/RESULT (.*)/.exec(stdout)?.[1] ?? '{}') as Record<
    'requests' | 'microseconds' | 'p99' | 'failed',
    number
  >;
  if (result.failed !== 0) {
    throw new Error(`${result.failed} requests to ${origin} did not return ${status}.`);
  }
  return { requests: result.requests, seconds: result.microseconds / 1e6, p99: result.p99 / 1_000 };
}
