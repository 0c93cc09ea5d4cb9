import type { Extensions } from '@electric-sql/pglite' with { 'resolution-mode': 'import' };

/**
 * Loads the PostgreSQL extensions that migrations can create in the embedded database. Each adds about 60 ms to every startup. They are
 * imported here because the production image has none.
 */
export const loadExtensions = (): Promise<Extensions> => Promise.resolve({});
