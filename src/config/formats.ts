/** The text format of a setting. */
export interface Format<T> {
  /** What the value must be, as a phrase that follows "must". */
  readonly requirement: string;
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

export function url(requirement: string, accepts: (url: URL) => boolean): Format<string> {
  return { requirement, parse: (text) => (URL.canParse(text) && accepts(new URL(text)) ? text : undefined) };
}

export function httpUrl(example: string): Format<string> {
  return url(`be an http or https URL, such as ${example}`, ({ protocol }) => /^https?:$/.test(protocol));
}

/** The path of a PEM file. The file is read by the module that uses it. */
export function pemFile(): Format<string> {
  return matching(/./, 'be the path of a PEM file');
}

/** @param server the server, out of several, that the host must point to */
export function postgresUrl(server: 'primary' | 'any' = 'primary'): Format<string> {
  const [target, endpoint] =
    server === 'primary'
      ? ['the primary', 'a managed writer endpoint']
      : ['any one of them', 'a managed reader endpoint'];
  return url(
    'be a PostgreSQL URL with one host, such as postgres://user:password@host:5432/petstore; ' +
      `for several servers, use a host that points to ${target}, such as a proxy like HAProxy, a virtual IP or ${endpoint}`,
    ({ protocol, host, searchParams }) =>
      /^postgres(ql)?:$/.test(protocol) && !`${host}${searchParams.get('host') ?? ''}`.includes(','),
  );
}
