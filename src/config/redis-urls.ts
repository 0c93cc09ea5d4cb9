import { findParameterMistake, findUrlMistake, type Format } from './formats';

/** The query parameters of a sentinel URL, named as in ioredis. No other URL of Redis has any. */
const SENTINEL_PARAMETERS = ['name', 'sentinelUsername', 'sentinelPassword'];

/** One URL per host: of the server, of each node of a cluster, or of each sentinel. */
export function redisUrls(): Format<string[]> {
  return {
    requirement:
      'be a Redis URL: redis://user:password@host:6379/0 for one server, redis+cluster://host:6379 for a Redis Cluster, or ' +
      'redis+sentinel://host:26379,host:26379/0?name=mymaster for sentinels; with TLS, rediss instead of redis',
    findMistake: (text) => findUrlMistake(text) ?? findMistake(parse(text) ?? []),
    parse,
  };
}

/** Repeats the text around a list of hosts for each of them. */
function parse(text: string): string[] | undefined {
  const [, start = '', topology = '', hosts = '', end = ''] =
    /^(rediss?\+(cluster|sentinel):\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/.exec(text) ?? [];
  const urls =
    start === ''
      ? text.split(',').map((each) => each.trim())
      : hosts.split(',').map((host) => `${start}${host.trim()}${end}`);
  const scheme = new RegExp(`^rediss?${topology && `\\+${topology}`}:$`);
  const isValid = urls.every((each) => {
    const { protocol = '', hostname } = URL.canParse(each) ? new URL(each) : {};
    return scheme.test(protocol) && hostname !== '';
  });
  return isValid ? urls : undefined;
}

function findMistake(urls: readonly string[]): string | undefined {
  const parsed = urls.map((each) => new URL(each));
  const [first = new URL('redis://none')] = parsed;
  const { protocol, pathname, searchParams } = first;
  const isSentinel = protocol.endsWith('+sentinel:');
  // Several URLs name the nodes of a cluster.
  const isCluster = protocol.endsWith('+cluster:') || (urls.length > 1 && !isSentinel);
  const describe = ({ protocol, username, password, pathname }: URL) => [protocol, username, password, pathname].join();
  if (parsed.some((each) => describe(each) !== describe(first))) {
    return 'have the same scheme, user, password and path for every node';
  }
  if (!(isCluster ? /^\/?0?$/ : /^(\/\d{0,9})?$/).test(pathname)) {
    return isCluster
      ? 'have no path, because a Redis Cluster has no database numbers'
      : 'have a database number as its path, such as redis://host:6379/0, or no path';
  }
  if (isSentinel && !searchParams.get('name')) {
    return `name the primary, as in ${protocol}//host:26379/0?name=mymaster`;
  }
  return urls
    .map((each) => findParameterMistake(each, isSentinel ? SENTINEL_PARAMETERS : []))
    .find((mistake) => mistake !== undefined);
}
