import { hash } from 'node:crypto';
import { DefaultNamingStrategy, type Table } from 'typeorm';

/** PostgreSQL truncates longer names. */
const MAX_LENGTH = 63;

/** Names constraints and indexes without a name of their own as PostgreSQL does; TypeORM's own names are hashes. */
export class PostgresNamingStrategy extends DefaultNamingStrategy {
  override primaryKeyName(table: Table | string): string {
    return this.join(table, [], 'pkey');
  }

  override uniqueConstraintName(table: Table | string, columns: string[]): string {
    return this.join(table, columns, 'key');
  }

  override relationConstraintName(table: Table | string, columns: string[]): string {
    return this.join(table, columns, 'key');
  }

  override foreignKeyName(table: Table | string, columns: string[]): string {
    return this.join(table, columns, 'fkey');
  }

  override indexName(table: Table | string, columns: string[], where?: string): string {
    return this.join(table, [...columns, ...splitWords(where ?? '')], 'idx');
  }

  override checkConstraintName(table: Table | string, expression: string): string {
    return this.join(table, splitWords(expression), 'check');
  }

  override exclusionConstraintName(table: Table | string, expression: string): string {
    return this.join(table, splitWords(expression), 'excl');
  }

  private join(table: Table | string, parts: readonly string[], suffix: string): string {
    const name = [this.getTableName(table), ...parts].join('_');
    const end = `_${suffix}`;
    if (name.length + end.length <= MAX_LENGTH) {
      return name + end;
    }
    // Other long names may begin alike.
    const hashed = `_${hash('sha1', name).slice(0, 8)}${end}`;
    return name.slice(0, MAX_LENGTH - hashed.length) + hashed;
  }
}

function splitWords(expression: string): string[] {
  return expression.toLowerCase().match(/\w+/g) ?? [];
}
