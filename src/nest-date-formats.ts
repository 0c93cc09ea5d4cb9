const { DateTimeFormat } = Intl;

/** Creates the date format when it is first used. */
function createLazily(_: typeof DateTimeFormat, args: ConstructorParameters<typeof DateTimeFormat>) {
  let format: Intl.DateTimeFormat | undefined;
  return { format: (date: Date | number) => (format ??= new DateTimeFormat(...args)).format(date) };
}

/**
 * Nest's own loggers, which the service does not use, create two date formats when Nest is loaded. The first date format of a process reads
 * data of all locales, which takes 20 ms and 6 MiB. So Nest is loaded with date formats that are created when they are first used.
 */
Intl.DateTimeFormat = new Proxy(DateTimeFormat, { construct: createLazily });
// eslint-disable-next-line @typescript-eslint/no-require-imports -- an import would be hoisted above the line before
require('@nestjs/common');
Intl.DateTimeFormat = DateTimeFormat;
