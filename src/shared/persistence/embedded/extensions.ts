import type { Extensions } from '@electric-sql/pglite' with { 'resolution-mode': 'import' };

/** The extensions of PostgreSQL that the embedded database has for migrations to create. Each costs some 60 ms of every start. */
export const EXTENSIONS: Extensions = {};
