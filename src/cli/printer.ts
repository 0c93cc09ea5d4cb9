import { stringifyJson } from '../shared/json/json';
import { type Services, withServices } from './services';
import type { Terminal } from './terminal';

type Cell = string | number | bigint | null;

/** One row of a table, or one JSON object; null is an empty cell. */
export type View = Readonly<Record<string, Cell | Readonly<Record<string, Cell>>>>;

/** Prints results: as a table for people, or as one JSON value for programs. */
export class Printer {
  constructor(
    private readonly env: NodeJS.ProcessEnv,
    private readonly terminal: Terminal,
  ) {}

  /** One record; in JSON, an object. */
  one(json: true | undefined, ask: (services: Services) => Promise<View>): Promise<void> {
    return withServices(this.env, async (services) => {
      const view = await ask(services);
      this.print(json ? stringifyJson(view) : table([view]));
    });
  }

  /** Any number of records; in JSON, an array. */
  many(json: true | undefined, ask: (services: Services) => Promise<View[]>): Promise<void> {
    return withServices(this.env, async (services) => {
      this.list(json, await ask(services), 'None.');
    });
  }

  list(json: true | undefined, views: readonly View[], whenEmpty: string): void {
    this.print(json ? stringifyJson(views) : views.length === 0 ? whenEmpty : table(views));
  }

  /** Text for people; in JSON, the value it was made of. */
  text(json: true | undefined, value: unknown, text: string): void {
    this.print(json ? stringifyJson(value) : text);
  }

  /** Prints additional information to standard error, where it does not disturb programs. */
  note(text: string): void {
    this.terminal.writeError(`note: ${text}\n`);
  }

  private print(text: string): void {
    this.terminal.write(`${text}\n`);
  }
}

function table(views: readonly View[]): string {
  const columns = Object.keys(views[0] ?? {});
  const rows = [columns, ...views.map((view) => columns.map((column) => cellText(view[column] ?? '')))];
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cellText(value: NonNullable<View[string]>): string {
  return typeof value === 'object'
    ? Object.entries(value)
        .map(([name, cell]) => `${name}: ${cell ?? 'none'}`)
        .join(', ')
    : String(value);
}
