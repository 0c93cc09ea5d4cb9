import { escapeControlCharacters } from '../shared/domain/text';
import { stringifyJson } from '../shared/json/json';
import { type Services, withServices } from './services';
import type { Terminal } from './terminal';

type Cell = string | number | bigint | null;

/** A row of a table or a JSON object. null is an empty cell. */
export type View = Readonly<Record<string, Cell | Readonly<Record<string, Cell>>>>;

/** Prints results: as a table for people, or as one JSON value for programs. */
export class Printer {
  constructor(
    private readonly env: NodeJS.ProcessEnv,
    private readonly terminal: Terminal,
    private readonly getOptions: () => { readonly json?: true },
  ) {}

  /** Whether the operator has asked for JSON. */
  get isJson(): boolean {
    return this.getOptions().json === true;
  }

  /** Prints one record; as JSON, an object. */
  printOne(load: (services: Services) => Promise<View>): Promise<void> {
    return withServices(this.env, async (services) => {
      const view = await load(services);
      this.print(this.isJson ? stringifyJson(view) : formatTable([view]));
    });
  }

  /** Prints any number of records; as JSON, an array. */
  printMany(load: (services: Services) => Promise<View[]>): Promise<void> {
    return withServices(this.env, async (services) => {
      this.printList(await load(services), 'None.');
    });
  }

  printList(views: readonly View[], whenEmpty: string): void {
    this.print(this.isJson ? stringifyJson(views) : views.length === 0 ? whenEmpty : formatTable(views));
  }

  /** Prints text; as JSON, the value that the text describes. */
  printText(value: unknown, text: string): void {
    this.print(this.isJson ? stringifyJson(value) : text);
  }

  /** Prints additional information to standard error, so that standard output remains parseable. */
  printNote(text: string): void {
    this.terminal.writeError(`note: ${text}\n`);
  }

  private print(text: string): void {
    this.terminal.write(`${text}\n`);
  }
}

function formatTable(views: readonly View[]): string {
  const columns = Object.keys(views[0] ?? {});
  const rows = [columns, ...views.map((view) => columns.map((column) => formatCell(view[column] ?? '')))];
  const widths = columns.map((_, index) => rows.reduce((width, row) => Math.max(width, row[index]?.length ?? 0), 0));
  return rows
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function formatCell(value: NonNullable<View[string]>): string {
  const text =
    typeof value === 'object'
      ? Object.entries(value)
          .map(([name, cell]) => `${name}: ${cell ?? 'none'}`)
          .join(', ')
      : String(value);
  return escapeControlCharacters(text);
}
