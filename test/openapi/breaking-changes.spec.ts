import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenAPIObject, OperationObject, SchemaObject } from '@nestjs/swagger';
import { breakingChanges } from './breaking-changes.cjs';

const read = () => JSON.parse(readFileSync(join(__dirname, '../../openapi.json'), 'utf8')) as OpenAPIObject;
const schema = (document: OpenAPIObject, name: string) => document.components?.schemas?.[name] as SchemaObject;
const operation = (document: OpenAPIObject, path: string, method: 'get' | 'post'): Partial<OperationObject> =>
  document.paths[path]?.[method] ?? {};

describe('The check for breaking changes', () => {
  const found = (change: (document: OpenAPIObject) => unknown) => {
    const changed = read();
    change(changed);
    return breakingChanges(read(), changed);
  };

  it.each<[string, (document: OpenAPIObject) => unknown]>([
    ['a removed operation', ({ paths }) => delete paths['/pets/{petId}']],
    ['a removed parameter', (document) => operation(document, '/pets', 'get').parameters?.pop()],
    ['a removed status', (document) => delete operation(document, '/pets', 'post').responses?.['201']],
    ['a removed field', (document) => delete schema(document, 'Pet').properties?.name],
    ['another type', (document) => Object.assign(schema(document, 'Pet').properties?.id ?? {}, { type: 'string' })],
    ['a new required field', (document) => schema(document, 'NewPet').required?.push('status')],
    [
      'a narrower range',
      (document) => Object.assign(schema(document, 'NewPet').properties?.name ?? {}, { maxLength: 100 }),
    ],
    ['a removed value', (document) => schema(document, 'PetStatus').enum?.splice(0, 1)],
    ['a new value in responses', (document) => schema(document, 'PetStatus').enum?.push('lost')],
  ])('finds %s', (_what, change) => {
    expect(found(change)).not.toEqual([]);
  });

  it('accepts compatible changes: new fields, other wording', () => {
    const changes = found((document) => {
      Object.assign(schema(document, 'Pet').properties ?? {}, { colour: { type: 'string' } });
      Object.assign(schema(document, 'NewPet').properties ?? {}, { colour: { type: 'string' } });
      operation(document, '/pets', 'get').description = 'Lists animals.';
    });
    expect(changes).toEqual([]);
  });

  it('lets a response promise a header that it sent only sometimes before, and not the other way round', () => {
    const promise = (isRequired: boolean) => (document: OpenAPIObject) =>
      Object.assign(document.components?.headers?.['Idempotent-Replayed'] ?? {}, { required: isRequired });
    const changed = read();
    promise(true)(changed);
    expect(breakingChanges(read(), changed)).toEqual([]);
    expect(breakingChanges(changed, read())).not.toEqual([]);
  });

  it('accepts any change in a new major version', () => {
    const changes = found((document) => {
      document.info.version = '2.0.0';
      delete document.paths['/pets/{petId}'];
    });
    expect(changes).toEqual([]);
  });
});
