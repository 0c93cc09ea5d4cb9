// Reads an OpenAPI document from the standard input, and writes its types for TypeScript to the standard output.
import { stdin, stdout } from 'node:process';
import { text } from 'node:stream/consumers';
import openapiTypescript, { astToString } from 'openapi-typescript';
import ts from 'typescript';

const types = await openapiTypescript(await text(stdin), {
  // A double is exact to 2^53 only.
  transform: ({ format }) =>
    format === 'int64' ? ts.factory.createKeywordTypeNode(ts.SyntaxKind.BigIntKeyword) : undefined,
  // A field with a default may be left out of a request.
  defaultNonNullable: false,
});
stdout.write(astToString(types));
