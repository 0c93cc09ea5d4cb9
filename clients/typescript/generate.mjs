// Reads an OpenAPI document from standard input, and writes its types and its list of operations to standard output.
import { stdin, stdout } from 'node:process';
import { text } from 'node:stream/consumers';
import openapiTypescript, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options'];

const source = await text(stdin);
const document = JSON.parse(source);
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  METHODS.filter((method) => item[method]).map((method) => ({ ...item[method], path, item, method })),
);
/** The int64 fields of each schema, and its fields with another of these schemas. */
const int64Fields = {};
const schemaNames = new Map(Object.entries(document.components.schemas).map(([name, schema]) => [schema, name]));

const types = await openapiTypescript(source, {
  transform: (schema, { path }) => {
    // A double is only exact up to 2^53.
    if (schema.format === 'int64') {
      const bigint = ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword);
      const isNullable = Array.isArray(schema.type) && schema.type.includes('null');
      return isNullable ? ts.factory.createUnionTypeNode([bigint, createLiteral(null)]) : bigint;
    }
    // The examples are all error codes of this version.
    return path === '#/components/schemas/Error/code'
      ? ts.factory.createUnionTypeNode(schema.examples.map(createLiteral))
      : undefined;
  },
  // A field with a default is optional in requests.
  defaultNonNullable: false,
});
stdout.write(`// Generated from openapi.json by npm run client:types.
${astToString(types.map(documentOperations))}
/** Describes how to send each operation. */
export const OPERATIONS = ${JSON.stringify(describeRequests(), null, 4)} as const;

/** Describes the schemas of responses: the fields that are \`int64\`, and those with another of these schemas. */
export const INT64_FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = ${JSON.stringify(int64Fields, null, 4)};
`);

function createLiteral(value) {
  return ts.factory.createLiteralTypeNode(
    value === null ? ts.factory.createNull() : ts.factory.createStringLiteral(value),
  );
}

/** Adds the doc comment that editors show to each member of `operations`. */
function documentOperations(node) {
  if (ts.isInterfaceDeclaration(node) && node.name.text === 'operations') {
    node.members.filter(ts.isPropertySignature).forEach((member) => {
      const operation = operations.find(({ operationId }) => operationId === member.name.text);
      const comment = `*\n${formatDescription(operation).replaceAll(/^/gm, ' * ').replaceAll('*/', '*\\/')}\n `;
      ts.addSyntheticLeadingComment(member, ts.SyntaxKind.MultiLineCommentTrivia, comment, true);
    });
  }
  return node;
}

function formatDescription({
  summary,
  description,
  deprecated,
  'x-stability': stability,
  'x-deprecated-sunset': sunset,
}) {
  return [
    `${summary}. ${description}`,
    stability === undefined ? [] : `@${stability}`,
    deprecated ? `@deprecated${sunset === undefined ? '' : ` It is removed on ${sunset}.`}` : [],
  ]
    .flat()
    .join('\n');
}

function describeRequests() {
  return Object.fromEntries(
    operations.map(({ operationId, method, path, item, parameters = [], responses }) => [
      operationId,
      {
        method: method.toUpperCase(),
        path,
        takesIdempotencyKey: [...(item.parameters ?? []), ...parameters]
          .map(resolve)
          .some((parameter) => parameter.in === 'header' && parameter.name.toLowerCase() === 'idempotency-key'),
        isRateLimited: findErrorCodes(responses['429']).includes('rate_limit_exceeded'),
        schema: describeInt64(operationId, findSchemas(responses)) ?? null,
        ...describeBody(responses),
      },
    ]),
  );
}

/** Finds the codes that the document lists as examples of an error response. */
function findErrorCodes(response = {}) {
  return Object.values(resolve(response).content ?? {}).flatMap(({ examples = {} }) => Object.keys(examples));
}

/** Finds the schemas of successful responses. */
function findSchemas(responses) {
  return Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, response]) => Object.values(resolve(response).content ?? {}))
    .map(({ schema }) => resolve(schema));
}

/** Describes what every successful body has: whether it is an array, and the fields of the object or of each element. */
function describeBody(responses) {
  const [schema = {}] = findSchemas(responses);
  const isList = schema.type === 'array';
  const { required = [] } = isList ? resolve(schema.items) : schema;
  return { isList, required };
}

/**
 * Describes the int64 fields of values with one of these schemas. An array is described by its elements.
 * @returns `int64`, or a name in `int64Fields`; undefined for other values
 */
function describeInt64(name, schemas) {
  const all = schemas.flatMap(flatten);
  if (all.some(({ format }) => format === 'int64')) {
    if (all.some(({ type, format }) => format !== 'int64' && type !== undefined && !/^(array|null)$/.test(type))) {
      throw new Error(`${name} is both int64 and another type.`);
    }
    return 'int64';
  }
  const objects = all.filter(({ properties }) => properties);
  if (objects.length === 0) {
    return undefined;
  }
  const key = objects.map((schema) => schemaNames.get(schema) ?? name).join(' or ');
  if (int64Fields[key] === undefined) {
    int64Fields[key] = {};
    for (const field of objects.flatMap(({ properties }) => Object.keys(properties))) {
      const alternatives = objects.flatMap(({ properties }) => properties[field] ?? []);
      int64Fields[key][field] = describeInt64(`${key}.${field}`, alternatives);
    }
  }
  return key;
}

/** Returns a schema, those that it combines, and those of its elements. */
function flatten(schema) {
  const resolved = resolve(schema);
  const { items = [], allOf = [], anyOf = [], oneOf = [] } = resolved;
  return [resolved, ...[items, allOf, anyOf, oneOf].flat().flatMap(flatten)];
}

function resolve(value) {
  return value.$ref === undefined
    ? value
    : resolve(
        value.$ref
          .slice('#/'.length)
          .split('/')
          .reduce((found, part) => found[part.replaceAll('~1', '/').replaceAll('~0', '~')], document),
      );
}
