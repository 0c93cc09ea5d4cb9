import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenAPIObject, OperationObject, SchemaObject } from '@nestjs/swagger';
import { findBreakingChanges } from './breaking-changes.cjs';

const read = () => JSON.parse(readFileSync(join(__dirname, '../../openapi.json'), 'utf8')) as OpenAPIObject;
const getSchema = (document: OpenAPIObject, name: string) => document.components?.schemas?.[name] as SchemaObject;
const getOperation = (document: OpenAPIObject, path: string, method: 'get' | 'post'): Partial<OperationObject> =>
  document.paths[path]?.[method] ?? {};

describe('The check for breaking changes', () => {
  const findChanges = (change: (document: OpenAPIObject) => unknown) => {
    const changed = read();
    change(changed);
    return findBreakingChanges(read(), changed);
  };

  it.each<[string, (document: OpenAPIObject) => unknown]>([
    ['a removed operation', ({ paths }) => delete paths['/pets/{petId}']],
    ['a removed parameter', (document) => getOperation(document, '/pets', 'get').parameters?.pop()],
    ['a removed status', (document) => delete getOperation(document, '/pets', 'post').responses?.['201']],
    ['a removed field', (document) => delete getSchema(document, 'Pet').properties?.name],
    ['another type', (document) => Object.assign(getSchema(document, 'Pet').properties?.id ?? {}, { type: 'string' })],
    ['a new required field', (document) => getSchema(document, 'NewPet').required?.push('status')],
    [
      'a narrower range',
      (document) => Object.assign(getSchema(document, 'NewPet').properties?.name ?? {}, { maxLength: 100 }),
    ],
    ['a removed value', (document) => getSchema(document, 'PetStatus').enum?.splice(0, 1)],
    ['a new value in responses', (document) => getSchema(document, 'PetStatus').enum?.push('lost')],
  ])('finds %s', (_what, change) => {
    expect(findChanges(change)).not.toEqual([]);
  });

  it('accepts compatible changes: new fields, other wording, another way to authenticate', () => {
    const changes = findChanges((document) => {
      Object.assign(getSchema(document, 'Pet').properties ?? {}, { colour: { type: 'string' } });
      Object.assign(getSchema(document, 'NewPet').properties ?? {}, { colour: { type: 'string' } });
      getOperation(document, '/pets', 'get').description = 'Lists animals.';
      Object.assign(document.components?.securitySchemes ?? {}, { jwt: { type: 'http', scheme: 'bearer' } });
    });
    expect(changes).toEqual([]);
  });

  it('accepts that a response header becomes required, but not that it becomes optional', () => {
    const setRequired = (isRequired: boolean) => (document: OpenAPIObject) =>
      Object.assign(document.components?.headers?.['Idempotent-Replayed'] ?? {}, { required: isRequired });
    const changed = read();
    setRequired(true)(changed);
    expect(findBreakingChanges(read(), changed)).toEqual([]);
    expect(findBreakingChanges(changed, read())).not.toEqual([]);
  });

  it('accepts any change in a new major version', () => {
    const changes = findChanges((document) => {
      document.info.version = '2.0.0';
      delete document.paths['/pets/{petId}'];
    });
    expect(changes).toEqual([]);
  });
});
