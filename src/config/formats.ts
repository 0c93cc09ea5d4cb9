import { BRAND } from './brand';

/** The text format of a setting. */
export interface Format<T> {
  /** What the value must be, as a phrase that follows "must". */
  readonly requirement: string;
  /** @returns what the value must be instead of a known mistake, as such a phrase; undefined if it contains none */
  readonly findMistake?: (text: string) => string | undefined;
  /** @returns undefined if the text is invalid */
  readonly parse: (text: string) => T | undefined;
}

export function oneOf<const T extends string>(...options: T[]): Format<T> {
  const requirement = `be ${options.slice(0, -1).join(', ')} or ${options.at(-1) ?? ''}`;
  return { requirement, parse: (text) => options.find((option) => option === text) };
}

export function matching(pattern: RegExp, requirement: string): Format<string> {
  return { requirement, parse: (text) => (pattern.test(text) ? text : undefined) };
}

export function integer(min: number, max: number): Format<number> {
  return {
    requirement: `be a whole number from ${min} to ${max}`,
    parse: (text) => (/^\d{1,9}$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined),
  };
}

/**
 * A URL, in the form that every parser reads alike.
 * @param parameters the names of the query parameters that it may have; by default, any
 */
export function url(
  requirement: string,
  accepts: (url: URL) => boolean,
  parameters?: readonly string[],
): Format<string> {
  const parse = (text: string) => (URL.canParse(text) && accepts(new URL(text)) ? new URL(text).href : undefined);
  const findMistake = (text: string) =>
    findUrlMistake(text) ??
    (parameters !== undefined && parse(text) !== undefined ? findParameterMistake(text, parameters) : undefined);
  return { requirement, findMistake, parse };
}

/** Finds what `URL` accepts, but with another meaning than the operator's. */
export function findUrlMistake(text: string): string | undefined {
  if (/\p{Cc}/u.test(text)) {
    return 'be one line, without control characters';
  }
  try {
    decodeURIComponent(text);
  } catch {
    return 'contain %25 instead of %, for example in the password';
  }
  return text.includes('#') ? 'contain %23 instead of #, for example in the password' : undefined;
}

export function findParameterMistake(text: string, allowed: readonly string[]): string | undefined {
  const { search, searchParams } = new URL(text);
  const names = [...searchParams.keys()];
  const unknown = names.find((name) => !allowed.includes(name));
  if (unknown !== undefined) {
    // After a question mark in the password, the rest of the password looks like a parameter.
    return search.includes('@') || !/^[\w-]+$/.test(unknown)
      ? 'contain %3F instead of ?, for example in the password'
      : `not have the parameter ${unknown}: ${allowed.length === 0 ? 'none is' : `only ${allowed.join(', ')} are`} supported`;
  }
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  return repeated === undefined ? undefined : `have the parameter ${repeated} only once`;
}

export function httpUrl(example: string): Format<string> {
  return url(`be an http or https URL, such as ${example}`, ({ protocol }) => /^https?:$/.test(protocol));
}

/** The path of a PEM file. The file is read by the module that uses it. */
export function pemFile(): Format<string> {
  return matching(/./, 'be the path of a PEM file');
}

/** Those of libpq that `pg` supports. It would ignore most others, and let some override the options of the service. */
const POSTGRES_PARAMETERS = ['host', 'port', 'user', 'password', 'application_name', 'options', 'sslmode'];

/** @param server the server, out of several, that the host must point to */
export function postgresUrl(server: 'primary' | 'any' = 'primary'): Format<string> {
  const [target, endpoint] =
    server === 'primary'
      ? ['the primary', 'a managed writer endpoint']
      : ['any one of them', 'a managed reader endpoint'];
  return url(
    `be a PostgreSQL URL with one host, such as postgres://user:password@host:5432/${BRAND.name}; ` +
      `for several servers, use a host that points to ${target}, such as a proxy like HAProxy, a virtual IP or ${endpoint}`,
    ({ protocol, host, searchParams }) =>
      /^postgres(ql)?:$/.test(protocol) && !`${host}${searchParams.get('host') ?? ''}`.includes(','),
    POSTGRES_PARAMETERS,
  );
}
