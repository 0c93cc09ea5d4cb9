import type { MigrationInterface } from 'typeorm';
import { typeOrmConfig } from '../../src/typeorm.config';

type MigrationClass = new () => MigrationInterface;

/** The migrations of this version, in the order they run. */
export function migrationClasses(): MigrationClass[] {
  return [...((typeOrmConfig({ databaseUrl: undefined, dataDir: '' }).migrations ?? []) as MigrationClass[])];
}

export function migrations(): string[] {
  return migrationClasses().map(({ name }) => name);
}
