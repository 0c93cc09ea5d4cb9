const worker = process.env.JEST_WORKER_ID ?? '1';

/** The database of this worker, as its administrator. */
export const ADMIN_DATABASE_URL = process.env[`WORKER_${worker}_ADMIN_DATABASE_URL`] ?? '';

/** The database of this worker, as the role that serves requests. */
export const DATABASE_URL = process.env[`WORKER_${worker}_DATABASE_URL`] ?? '';
