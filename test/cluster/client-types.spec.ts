import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { OpenAPIObject, SchemaObject } from '@nestjs/swagger';

const CLIENT = join(__dirname, '../../clients/typescript');

async function generate(document: string): Promise<{ output: string; errors: string }> {
  const generator = spawn(process.execPath, [join(CLIENT, 'generate.mjs')]);
  generator.stdin.end(document);
  const [output, errors] = await Promise.all([text(generator.stdout), text(generator.stderr)]);
  return { output, errors };
}

describe('npm run client:types', () => {
  const readDocument = () => readFile(join(__dirname, '../../openapi.json'), 'utf8');
  /** Generates the types of a document whose Pet has more fields. */
  const generateWith = async (properties: Readonly<Record<string, object>>) => {
    const document = JSON.parse(await readDocument()) as OpenAPIObject;
    Object.assign((document.components?.schemas?.Pet as SchemaObject).properties ?? {}, properties);
    return generate(JSON.stringify(document));
  };

  it('generates the types in clients/typescript (run it again if they differ)', async () => {
    const { output } = await generate(await readDocument());
    expect(output).toBe(await readFile(join(CLIENT, 'src/openapi.ts'), 'utf8'));
  });

  it('maps int64 to bigint in nullable fields, nested objects and references', async () => {
    const { output, errors } = await generateWith({
      ownerId: { type: ['integer', 'null'], format: 'int64' },
      box: { type: 'object', properties: { id: { type: 'integer', format: 'int64' } } },
      friends: { type: 'array', items: { $ref: '#/components/schemas/Pet' } },
      weight: { type: 'integer', format: 'int32' },
    });
    expect(errors).toBe('');
    expect(output).toMatch(/\bownerId\?: bigint \| null;\n[^]+\bid\?: bigint;\n[^]+\bweight\?: number;\n/);
    expect(output).toMatch(
      /"Pet": \{[^}]+"ownerId": "int64",\s+"box": "Pet\.box",\s+"friends": "Pet"\s+\},\s+"Pet\.box": \{\s+"id": "int64"\s+\}/,
    );
  });

  it('fails if a field is int64 or another type', async () => {
    const { errors } = await generateWith({
      weight: { anyOf: [{ type: 'integer', format: 'int64' }, { type: 'string' }] },
    });
    expect(errors).toContain('Pet.weight is both int64 and another type.');
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
