import type { Extensions } from '@electric-sql/pglite' with { 'resolution-mode': 'import' };

/**
 * The extensions of PostgreSQL that the embedded database has for migrations to create. Each costs some 60 ms of every start.
 * They are loaded here, as the production image has none.
 */
export const loadExtensions = (): Promise<Extensions> => Promise.resolve({});
