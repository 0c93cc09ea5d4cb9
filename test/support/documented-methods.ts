import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';

const { paths } = JSON.parse(readFileSync(join(__dirname, '../../openapi.json'), 'utf8')) as OpenAPIObject;

/** The methods of a path in the document, or of all paths, in the form of `Allow`. */
export function findDocumentedMethods(path?: string): string[] {
  const items = path === undefined ? Object.values(paths) : [paths[path] ?? {}];
  const methods = new Set(items.flatMap((item) => Object.keys(item).map((method) => method.toUpperCase())));
  return [...methods, ...(methods.has('GET') ? ['HEAD'] : [])].sort();
}
