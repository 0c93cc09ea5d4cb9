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
        int64: findInt64Fields(operationId, responses),
        ...describeBody(responses),
      },
    ]),
  );
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

/** Finds the fields of successful responses that a number cannot represent exactly. */
function findInt64Fields(operationId, responses) {
  const fields = { int64: new Set(), others: new Set() };
  findSchemas(responses).forEach((schema) => collect(schema, '', fields, new Set()));
  const ambiguous = [...fields.int64].filter((name) => name === '' || fields.others.has(name));
  if (ambiguous.length > 0) {
    throw new Error(`${operationId} returns "${ambiguous[0]}" both as int64 and as another type.`);
  }
  return [...fields.int64];
}

function collect(schema, name, fields, seen) {
  const resolved = resolve(schema);
  const { type, format, properties, items, allOf = [], anyOf = [], oneOf = [] } = resolved;
  if ([type].flat().some((each) => each !== undefined && each !== 'null')) {
    (format === 'int64' ? fields.int64 : fields.others).add(name);
  }
  [...allOf, ...anyOf, ...oneOf].forEach((part) => collect(part, name, fields, seen));
  if (!seen.has(resolved)) {
    seen.add(resolved);
    Object.entries(properties ?? {}).forEach(([key, property]) => collect(property, key, fields, seen));
    if (items) {
      // A reviver receives the index of an array element, not the name of the array.
      collect(items, '', fields, seen);
    }
  }
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
