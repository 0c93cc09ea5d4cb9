import type { MigrationInterface } from 'typeorm';
import { loadSettings } from '../../src/config/settings';
import { typeOrmConfig } from '../../src/typeorm.config';

type MigrationClass = new () => MigrationInterface;

/** The migrations of this version, in the order they run. */
export function migrationClasses(): MigrationClass[] {
  return [...((typeOrmConfig(loadSettings({})).migrations ?? []) as MigrationClass[])];
}

export function migrations(): string[] {
  return migrationClasses().map(({ name }) => name);
}
