import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Inserts or resets the rows of an account that the examples of a module's operations refer to. */
export type Examples = (query: (sql: string) => Promise<unknown>, accountId: string) => Promise<unknown>;

/** Loads every `examples.ts` below `test/e2e`, outer directories first. */
export async function loadExamples(): Promise<Examples> {
  const root = join(__dirname, '../e2e');
  const files = readdirSync(root, { recursive: true })
    .map(String)
    .filter((file) => /(^|\/)examples\.ts$/.test(file))
    .sort((one, other) => one.split('/').length - other.split('/').length);
  const modules = await Promise.all(
    files.map((file) => import(join(root, file)) as Promise<{ readonly insertExamples: Examples }>),
  );
  return async (query, accountId) => {
    for (const { insertExamples } of modules) {
      await insertExamples(query, accountId);
    }
  };
}
