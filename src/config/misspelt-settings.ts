import { IDENTIFIER } from './brand';

/** Prefixes that other programs give to their settings. Kubernetes itself sets such a `…_PORT` for each service. */
const PREFIX = new RegExp(`^(${IDENTIFIER.toUpperCase()}|RATE_LIMITS?)_(?=.+_)`);
const UNIT = /(_PER)?_(MS|SECS?|SECONDS?|MIN|MINUTES?|HOURS?)$/;
/** TRUSTED and TRUST, POOLER and POOL, STARTUP and START, URLS and URL. */
const ENDING = /(?<=...)(ED|ER|ING|UP|(?<!I)S)$/;
/** A shorter name with another letter is another name: APPEND, or API_ENV. */
const MIN_SUBSTITUTION_LENGTH = 8;

/** Returns the setting that an unknown variable seems to mean, such as REDIS_URL for REDIS_URI, REDISURL or RATE_LIMIT_REDIS_URL. */
export function findMisspeltSetting(variable: string, settings: readonly string[]): string | undefined {
  const name = variable.toUpperCase().replace(PREFIX, '');
  // Only some settings can be read from a file.
  return [name, name.replace(/_FILE$/, '')]
    .flatMap((each) => settings.filter((setting) => setting.includes('_') && isSimilar(reduce(each), reduce(setting))))
    .at(0);
}

/** Removes what does not distinguish two names: underscores, units and endings. */
function reduce(name: string): string {
  return name
    .replace(UNIT, '')
    .split('_')
    .map((word) => word.replace('ENVIRONMENT', 'ENV').replace(/IES$/, 'Y').replace(ENDING, ''))
    .join('');
}

/** Whether two names are equal but for one letter, or for two letters in the wrong order. */
function isSimilar(a: string, b: string): boolean {
  let start = 0;
  while (start < Math.min(a.length, b.length) && a[start] === b[start]) {
    start++;
  }
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) {
    end++;
  }
  const [x, y] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  return (
    x + y === '' ||
    (x + y).length === 1 ||
    (x.length === 2 && x === `${y[1]}${y[0]}`) ||
    (x.length === 1 && y.length === 1 && b.length >= MIN_SUBSTITUTION_LENGTH)
  );
}
