import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

const CLIENT = join(__dirname, '../../clients/typescript');

async function generate(document: string): Promise<{ output: string; errors: string }> {
  const generator = spawn(process.execPath, [join(CLIENT, 'generate.mjs')]);
  generator.stdin.end(document);
  const [output, errors] = await Promise.all([text(generator.stdout), text(generator.stderr)]);
  return { output, errors };
}

describe('npm run client:types', () => {
  it('generates the types in clients/typescript (run it again if they differ)', async () => {
    const document = await readFile(join(__dirname, '../../openapi.json'), 'utf8');
    expect((await generate(document)).output).toBe(await readFile(join(CLIENT, 'src/openapi.ts'), 'utf8'));
  });

  it('resolves references, and maps int64 to bigint everywhere', async () => {
    const { output, errors } = await generate(JSON.stringify(REFERENCES));
    expect(errors).toBe('');
    expect(output).toContain(
      `"replaceToy": {
        "method": "PUT",
        "path": "/toys/{toyId}",
        "takesIdempotencyKey": true,
        "isRateLimited": false,
        "schema": "Toy",
        "isList": false,
        "required": [
            "id",
            "quantity"
        ]
    }`,
    );
    expect(output).toContain(`"Toy": {
        "id": "int64",
        "ownerId": "int64",
        "weight": "Toy.weight",
        "parts": "Toy"
    },
    "Toy.weight": {}`);
    expect(output).toMatch(/\bId: bigint;\n/);
    expect(output).toMatch(/\bownerId\?: bigint \| null;\n/);
    expect(output).toContain('code: "toy_not_found" | "toy_broken";');
    expect(output).toContain(
      '     * @experimental\n     * @deprecated It is removed on 2031-01-01.\n     */\n    replaceToy:',
    );
  });

  it('fails if a field is int64 or another type', async () => {
    const { Toy } = REFERENCES.components.schemas;
    const weight = { anyOf: [{ $ref: '#/components/schemas/Id' }, { type: 'string' }] };
    const schemas = { ...REFERENCES.components.schemas, Toy: { ...Toy, properties: { ...Toy.properties, weight } } };
    const document = { ...REFERENCES, components: { ...REFERENCES.components, schemas } };
    const { errors } = await generate(JSON.stringify(document));
    expect(errors).toContain('Toy.weight is both int64 and another type.');
  });
});

describe('openapi-typescript', () => {
  it('creates types with the option of the guide, in which fields with a default are optional', async () => {
    const generator = join(dirname(require.resolve('openapi-typescript/package.json')), 'bin/cli.js');
    const args = [generator, 'openapi.json', '--default-non-nullable=false'];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: join(__dirname, '../..') });
    expect(stdout).toMatch(/NewPet: \{[^}]+categoryId: number;[^}]+status\?: components/);
  });
});

/** A document that consists of shared components. */
const REFERENCES = {
  openapi: '3.1.0',
  info: { title: 'Toys', version: '1.0.0' },
  paths: {
    '/toys/{toyId}': {
      parameters: [{ $ref: '#/components/parameters/toyId' }],
      put: {
        operationId: 'replaceToy',
        summary: 'Replace a toy',
        description: 'Replaces it.',
        deprecated: true,
        'x-stability': 'experimental',
        'x-deprecated-sunset': '2031-01-01',
        parameters: [{ $ref: '#/components/parameters/idempotencyKey' }],
        requestBody: { $ref: '#/components/requestBodies/Toy' },
        responses: {
          200: { $ref: '#/components/responses/Toy' },
          404: { $ref: '#/components/responses/Error' },
        },
      },
    },
  },
  components: {
    parameters: {
      toyId: { name: 'toyId', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } },
      idempotencyKey: { name: 'Idempotency-Key', in: 'header', schema: { type: 'string' } },
    },
    headers: { Limit: { required: true, schema: { type: 'integer', format: 'int64' } } },
    requestBodies: { Toy: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Toy' } } } } },
    responses: {
      Toy: {
        description: 'The toy.',
        headers: { 'X-RateLimit-Limit': { $ref: '#/components/headers/Limit' } },
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Toy' } } },
      },
      Error: {
        description: 'There is none.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    },
    schemas: {
      Id: { type: 'integer', format: 'int64' },
      Toy: {
        type: 'object',
        required: ['id', 'quantity'],
        properties: {
          id: { $ref: '#/components/schemas/Id' },
          ownerId: { type: ['integer', 'null'], format: 'int64' },
          quantity: { type: 'integer', format: 'int32' },
          weight: { type: 'object', properties: { id: { type: 'string' } } },
          parts: { type: 'array', items: { $ref: '#/components/schemas/Toy' } },
        },
      },
      Error: {
        type: 'object',
        required: ['code'],
        properties: { code: { type: 'string', examples: ['toy_not_found', 'toy_broken'] } },
      },
    },
  },
};
