import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenAPIObject, OperationObject, RequestBodyObject, SchemaObject } from '@nestjs/swagger';
import { dereference } from '../openapi/dereference.cjs';

const DOCUMENT = dereference(JSON.parse(readFileSync(join(__dirname, '../../openapi.json'), 'utf8')) as OpenAPIObject);

/** An operation of the OpenAPI document, with a request that succeeds. */
export interface Operation extends OperationObject {
  readonly operationId: string;
  readonly method: string;
  /** The path with example values for its parameters. */
  readonly path: string;
  /** Matches the paths of the operation. */
  readonly pattern: RegExp;
  readonly body: object | undefined;
  readonly security: Record<string, string[]>[];
  readonly 'x-stability'?: string;
  readonly 'x-required-scope'?: string;
}

/** All operations of the OpenAPI document. */
export const OPERATIONS = Object.entries(DOCUMENT.paths).flatMap(([path, item]) =>
  Object.entries(item as Record<string, OperationObject>).map(
    ([method, operation]) =>
      ({
        security: DOCUMENT.security,
        ...operation,
        method: method.toUpperCase(),
        path: `/v1${path.replace(/\{\w+\}/g, '1')}`,
        pattern: new RegExp(`^/v1${path.replace(/\{\w+\}/g, '[^/]+')}$`),
        body: (operation.requestBody as RequestBodyObject | undefined)?.content['application/json']?.example as
          object | undefined,
      }) as Operation,
  ),
);

/** Whether the operation is documented as `@Public()`. */
export const isPublic = ({ security }: Operation) => security.length === 0;

/** Whether an API key is one of the credentials that the operation accepts; `@AuthStrategies()` can name others. */
export const acceptsApiKeys = ({ security }: Operation) => security.some((schemes) => 'apiKey' in schemes);

/** The paths of the lists of all modules. */
export const LISTS = OPERATIONS.filter(({ operationId }) => operationId.startsWith('list')).map(({ path }) => path);

/** Finds the status of a successful response. */
export function findSuccessStatus({ responses }: Operation): number {
  return Number(Object.keys(responses).find((status) => status.startsWith('2')));
}

/** Whether the body of an operation must be an array or have a field. */
export function requiresField({ requestBody }: Operation): boolean {
  const { schema = {} } = (requestBody as RequestBodyObject).content['application/json'] ?? {};
  const name = '$ref' in schema ? (schema.$ref.split('/').at(-1) ?? '') : '';
  const { type, required = [], minProperties = 0 } = (DOCUMENT.components?.schemas?.[name] ?? schema) as SchemaObject;
  return type === 'array' || required.length + minProperties > 0;
}
