import type { Examples } from '../support/examples';

export const insertExamples: Examples = (query) =>
  query(
    `INSERT INTO pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE VALUES (1, 'Rex', 3, 'available')
     ON CONFLICT (id) DO UPDATE SET status = 'available';
     SELECT setval(pg_get_serial_sequence('pets', 'id'), greatest(1, (SELECT max(id) FROM pets)))`,
  );
