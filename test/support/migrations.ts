import type { MigrationInterface } from 'typeorm';
import { loadSettings } from '../../src/config/settings';
import { createTypeOrmConfig } from '../../src/typeorm.config';

type MigrationClass = new () => MigrationInterface;

/** The migrations of this version, in the order they run. */
export function getMigrationClasses(): MigrationClass[] {
  return [...((createTypeOrmConfig(loadSettings({})).migrations ?? []) as MigrationClass[])];
}

export function getMigrationNames(): string[] {
  return getMigrationClasses().map(({ name }) => name);
}
