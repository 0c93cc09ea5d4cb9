import type {
  HeaderObject,
  OpenAPIObject,
  OperationObject,
  ParameterObject,
  ReferenceObject,
  RequestBodyObject,
  ResponseObject,
  SchemaObject,
} from '@nestjs/swagger';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { stringifyJson } from '../../src/shared/json/json';
import { dereference } from '../openapi/dereference.cjs';
import type { TestResponse } from './service';

/**
 * Headers that any response may have without being in the document: those of HTTP itself, caching, CORS and browser
 * security.
 */
const GENERAL_HEADERS = new RegExp(
  `^(${[
    'content-type|content-length|date|connection|keep-alive|allow|transfer-encoding|access-control-.+',
    'cache-control|vary',
    'content-security-policy|cross-origin-resource-policy|referrer-policy|x-content-type-options|x-frame-options',
  ].join('|')})$`,
);

const ERROR = { schema: { $ref: '#/components/schemas/Error' } };

/**
 * Checks requests and responses against the OpenAPI document: a response has only documented statuses, headers, fields and values,
 * and all required ones; and a request that the document forbids is not accepted.
 */
export class Conformance {
  private readonly ajv = addFormats(new Ajv2020({ strict: false, allErrors: true }));
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly paths: { readonly pattern: RegExp; readonly operations: Record<string, OperationObject> }[];

  /** @param root the path at which the API is served */
  constructor(
    document: OpenAPIObject,
    private readonly root = '/v1',
  ) {
    // The validator reads integers as doubles. Clients must accept unknown fields, but these tests reject them.
    const plain = dereference(JSON.parse(stringifyJson(document)) as OpenAPIObject);
    const requests = findRequestSchemas(plain);
    for (const [name, schema] of Object.entries((plain.components?.schemas ?? {}) as Record<string, SchemaObject>)) {
      if (schema.type === 'object' && !requests.has(name)) {
        schema.additionalProperties = false;
      }
    }
    this.ajv.addSchema({ ...plain, $id: 'openapi' });
    // Literal paths come before those with a parameter, because `{` sorts after letters.
    this.paths = Object.keys(plain.paths)
      .sort()
      .map((path) => ({
        pattern: new RegExp(`^${root}${path.replace(/\{[^}]+\}/g, '[^/]+')}$`),
        operations: plain.paths[path] as Record<string, OperationObject>,
      }));
  }

  check(method: string, url: string, body: string | undefined, response: TestResponse): void {
    const problems = this.findProblems(method, url, body, response);
    if (problems.length > 0) {
      throw new Error(
        `${method} ${url} returned ${response.status} ${response.text}, which does not conform to the document: ${problems.join('; ')}`,
      );
    }
  }

  private findProblems(method: string, url: string, body: string | undefined, response: TestResponse): string[] {
    const [path = '', query = ''] = url.split('?', 2);
    if (!path.startsWith(this.root)) {
      return [];
    }
    const name = method === 'HEAD' ? 'get' : method.toLowerCase();
    const operation = this.paths.find(({ pattern, operations }) => name in operations && pattern.test(path))
      ?.operations[name];
    if (operation === undefined) {
      // Not an operation in the document: an error, or a CORS preflight.
      return response.status === 204 ? [] : this.findBodyProblems({ 'application/json': ERROR }, response, method);
    }
    const documented = operation.responses[response.status] as ResponseObject | undefined;
    if (documented === undefined) {
      return ['the status is not documented; name the error in @ApiErrors() on the handler'];
    }
    return [
      ...(response.status < 300 ? this.findRequestProblems(operation, query, body) : []),
      ...this.findHeaderProblems((documented.headers ?? {}) as Record<string, HeaderObject>, response),
      ...this.findBodyProblems(documented.content ?? {}, response, method),
    ];
  }

  private findRequestProblems({ parameters = [], requestBody }: OperationObject, query: string, body = ''): string[] {
    const sent = new URLSearchParams(query);
    const schema = (requestBody as RequestBodyObject | undefined)?.content['application/json']?.schema;
    return [
      ...(parameters as ParameterObject[])
        .filter(({ in: place, name }) => place === 'query' && sent.has(name))
        .flatMap(({ name, schema: of = {} }) => this.findValueProblems(`parameter ${name}`, of, ...sent.getAll(name))),
      ...(schema === undefined ? [] : this.findSchemaProblems('the request', schema, JSON.parse(body))),
    ];
  }

  private findHeaderProblems(documented: Readonly<Record<string, HeaderObject>>, { headers }: TestResponse): string[] {
    const known = new Map(Object.entries(documented).map(([name, header]) => [name.toLowerCase(), header]));
    const exposed = new Set(headers['access-control-expose-headers']?.toLowerCase().split(', '));
    return [
      ...Object.keys(headers)
        .filter((name) => !GENERAL_HEADERS.test(name) && !known.has(name))
        .map((name) => `header ${name} is not documented; name it in the headers of @Api…Response() on the handler`),
      ...[...known].flatMap(([name, { required = true, schema = {} }]) => {
        const value = headers[name];
        if (value === undefined) {
          return required
            ? [`header ${name} is documented, but not sent; "required: false" allows it to be absent`]
            : [];
        }
        return [
          ...(exposed.has('*') || exposed.has(name) || GENERAL_HEADERS.test(name)
            ? []
            : [`header ${name} is not in access-control-expose-headers (src/shared/http/access/cors.ts)`]),
          ...this.findValueProblems(`header ${name}`, schema, value),
        ];
      }),
    ];
  }

  private findBodyProblems(
    content: NonNullable<ResponseObject['content']>,
    { status, text, headers }: TestResponse,
    method: string,
  ): string[] {
    if (method === 'HEAD') {
      return text === '' ? [] : ['a response to HEAD has a body'];
    }
    if (status === 204 || status === 304) {
      return text === '' ? [] : [`a ${status} has a body`];
    }
    const [mediaType = ''] = headers['content-type']?.split(';') ?? [];
    if (!mediaType.endsWith('json') && mediaType in content) {
      return [];
    }
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return [`the response is not JSON: ${text.slice(0, 100)}`];
    }
    return this.findSchemaProblems(
      'the response',
      (content[mediaType] ?? content['application/json'])?.schema ?? {},
      body,
    );
  }

  /** Parses what was sent as text, several times if it is an array. */
  private findValueProblems(what: string, schema: SchemaObject | ReferenceObject, ...texts: string[]): string[] {
    const parse = (of: SchemaObject | ReferenceObject = {}) =>
      !('type' in of) || [of.type].flat().includes('string') ? texts : texts.map(parseValue);
    const isArray = 'type' in schema && schema.type === 'array';
    const values = isArray ? [parse(schema.items)] : parse(schema);
    return values.flatMap((value) => this.findSchemaProblems(what, schema, value));
  }

  private findSchemaProblems(what: string, schema: object, value: unknown): string[] {
    const validate = this.getValidator(schema);
    return validate(value) ? [] : [`${what}: ${this.ajv.errorsText(validate.errors)}`];
  }

  private getValidator(schema: object): ValidateFunction {
    const text = JSON.stringify(schema).replace(/"#\//g, '"openapi#/');
    let validator = this.validators.get(text);
    if (validator === undefined) {
      validator = this.ajv.compile(JSON.parse(text) as object);
      this.validators.set(text, validator);
    }
    return validator;
  }
}

/** Finds the names of the schemas of request bodies. */
function findRequestSchemas({ paths }: OpenAPIObject): ReadonlySet<string> {
  const operations = Object.values(paths).flatMap((item) => Object.values(item) as OperationObject[]);
  const bodies = operations.flatMap(({ requestBody }) =>
    Object.values((requestBody as RequestBodyObject | undefined)?.content ?? {}),
  );
  return new Set(bodies.map(({ schema }) => (schema as { $ref?: string } | undefined)?.$ref?.split('/').at(-1) ?? ''));
}

/** Parses a number or boolean. Anything else remains text, which their schemas reject. */
function parseValue(text: string): unknown {
  return /^(true|false|-?(0|[1-9]\d*)(\.\d+)?)$/.test(text) ? JSON.parse(text) : text;
}
