import { STATUS_CODES } from 'node:http';
import type {
  ComponentsObject,
  OpenAPIObject,
  OperationObject,
  ParameterObject,
  ReferenceObject,
  RequestBodyObject,
  ResponseObject,
  SchemaObject,
} from '@nestjs/swagger';
import { stringifyJson } from '../shared/json/json';

type Kind = 'responses' | 'parameters';
/** A part of an operation that may become a component, and a function that replaces it with a reference. */
interface Occurrence {
  readonly name: string;
  readonly value: object;
  readonly replace: (reference: ReferenceObject) => void;
}

/**
 * Adds examples to the parameters and bodies of an operation, composed of the examples of their fields. Tools that send
 * requests ignore examples in schemas.
 */
export function addExamples(operation: OperationObject, schemas: Readonly<Record<string, unknown>>): void {
  for (const parameter of (operation.parameters ?? []) as ParameterObject[]) {
    const { example, ...schema } = (parameter.schema ?? {}) as Omit<SchemaObject, 'example'> & {
      readonly example?: unknown;
    };
    if (example !== undefined) {
      Object.assign(parameter, { schema, example });
    }
  }
  const bodies = [operation.requestBody, ...Object.values(operation.responses)] as (
    RequestBodyObject | ResponseObject | undefined
  )[];
  for (const content of bodies.flatMap((body) => Object.values(body?.content ?? {}))) {
    const example =
      content.examples === undefined && content.schema !== undefined ? findExample(content.schema, schemas) : undefined;
    if (example !== undefined) {
      Object.assign(content, { example });
    }
  }
}

/** @returns undefined if a required field of the schema has no example, or if the schema contains itself */
function findExample(
  schema: SchemaObject | ReferenceObject,
  schemas: Readonly<Record<string, unknown>>,
  containers: readonly string[] = [],
): unknown {
  if ('$ref' in schema) {
    const referenced = schemas[schema.$ref.split('/').at(-1) ?? ''] as SchemaObject | undefined;
    return referenced === undefined || containers.includes(schema.$ref)
      ? undefined
      : findExample(referenced, schemas, [...containers, schema.$ref]);
  }
  if (schema.example !== undefined) {
    return schema.example;
  }
  if (schema.items !== undefined) {
    const item = findExample(schema.items, schemas, containers);
    return item === undefined ? undefined : [item];
  }
  if (schema.properties === undefined) {
    return undefined;
  }
  const fields = Object.entries(schema.properties).map(
    ([name, field]) => [name, findExample(field, schemas, containers)] as const,
  );
  const isComplete = fields.every(([name, value]) => value !== undefined || !schema.required?.includes(name));
  const known = fields.filter(([, value]) => value !== undefined);
  return isComplete && known.length > 0 ? Object.fromEntries(known) : undefined;
}

/** Moves responses and parameters that operations share to `components`, and removes unused components. */
export function shareComponents(document: OpenAPIObject, operations: readonly OperationObject[]): void {
  moveToComponents(document, 'responses', operations.flatMap(listResponses));
  moveToComponents(document, 'parameters', operations.flatMap(listParameters));
  removeUnused(document);
}

function listResponses({ responses }: OperationObject): Occurrence[] {
  return Object.entries(responses).map(([status, value = {}]) => ({
    name: (STATUS_CODES[status] ?? status).replaceAll(/[^A-Za-z]/g, ''),
    value,
    replace: (reference) => (responses[status] = reference),
  }));
}

function listParameters({ parameters = [] }: OperationObject): Occurrence[] {
  return (parameters as ParameterObject[]).map((value, index) => ({
    name: value.name,
    value,
    replace: (reference) => (parameters[index] = reference),
  }));
}

/** Among values with the same name, the most frequent one becomes the component; the others stay inline. */
function moveToComponents(document: OpenAPIObject, kind: Kind, occurrences: readonly Occurrence[]): void {
  const components: Record<string, object> = {};
  for (const name of new Set(occurrences.map((occurrence) => occurrence.name))) {
    const variants = new Map<string, Occurrence[]>();
    for (const occurrence of occurrences.filter((candidate) => candidate.name === name)) {
      const text = stringifyJson(occurrence.value);
      variants.set(text, [...(variants.get(text) ?? []), occurrence]);
    }
    const [mostFrequent] = [...variants.values()].sort((one, other) => other.length - one.length);
    if (mostFrequent?.[0] !== undefined && mostFrequent.length > 1) {
      components[name] = mostFrequent[0].value;
      mostFrequent.forEach(({ replace }) => {
        replace({ $ref: `#/components/${kind}/${name}` });
      });
    }
  }
  document.components = { ...document.components, [kind]: components };
}

function removeUnused(document: OpenAPIObject): void {
  const text = stringifyJson(document);
  for (const kind of ['responses', 'parameters', 'examples', 'headers'] satisfies (keyof ComponentsObject)[]) {
    const components = Object.entries(document.components?.[kind] ?? {});
    const used = components.filter(([name]) => text.includes(`"#/components/${kind}/${name}"`));
    document.components = { ...document.components, [kind]: Object.fromEntries(used) };
  }
}
