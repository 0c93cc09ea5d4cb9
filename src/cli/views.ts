import { type Account, allowanceOf, type ApiKey, type AuditEntry, keyPrefix } from '../auth';
import type { Settings } from '../config/settings';
import { stringifyJson } from '../shared/http/json';
import type { Terminal } from './terminal';

type Cell = string | number | bigint | null;

/** One row of a table, or one JSON object; undefined and null are empty cells. */
type View = Readonly<Record<string, Cell | Readonly<Record<string, Cell>>>>;

export function accountView(account: Account): View {
  const { id, name, plan, createdAt } = account;
  return { id, name, plan, ...allowanceOf(account), createdAt: createdAt.toISOString() };
}

/** A key without its secret. */
export function keyView(
  { id, accountId, firstCharacters, ...times }: ApiKey,
  environment: Settings['environment'],
): View {
  const { createdAt, expiresAt, revokedAt } = times;
  return {
    id,
    accountId,
    startsWith: keyPrefix(environment) + firstCharacters,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
  };
}

export function auditView({ id, at, operator, act, accountId, keyId, details }: AuditEntry): View {
  return { id, at: at.toISOString(), operator, act, accountId, keyId, details };
}

/** What prints records: as a table for people, or as one JSON value (one object, or an array) for programs. */
export function printer(terminal: Terminal) {
  return (views: readonly View[], json: boolean, count: 'one' | 'many', whenEmpty = 'None.'): void => {
    const text = json
      ? stringifyJson(count === 'one' ? views[0] : views)
      : views.length === 0
        ? whenEmpty
        : table(views);
    terminal.write(`${text}\n`);
  };
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
