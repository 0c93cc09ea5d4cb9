import type { OpenAPIObject, OperationObject, ResponseObject } from '@nestjs/swagger';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { Answer } from './service';

/** What any answer may carry, by HTTP itself, CORS and the browser's security, without a word in the document. */
const GENERAL_HEADERS =
  /^(content-type|content-length|date|connection|keep-alive|vary|allow|transfer-encoding|access-control-.+)$/;

/** Holds answers to the OpenAPI document: no status, header or field that it does not know, none missing that it promises. */
export class Conformance {
  private readonly ajv = addFormats(new Ajv2020({ strict: false, allErrors: true }), ['int64', 'int32']);
  private readonly paths: { readonly pattern: RegExp; readonly operations: Record<string, OperationObject> }[];

  constructor(document: OpenAPIObject) {
    this.ajv.addSchema({ ...document, $id: 'openapi' });
    this.paths = Object.entries(document.paths).map(([path, operations]) => ({
      pattern: new RegExp(`^/v1${path.replace(/\{[^}]+\}/g, '[^/]+')}$`),
      operations: operations as Record<string, OperationObject>,
    }));
  }

  check(method: string, url: string, answer: Answer): void {
    const problems = this.problems(method, url, answer);
    if (problems.length > 0) {
      throw new Error(
        `${method} ${url} answered ${answer.status} ${answer.text}, against the document: ${problems.join('; ')}`,
      );
    }
  }

  private problems(method: string, url: string, answer: Answer): string[] {
    const path = url.split('?', 1)[0] ?? '';
    if (!path.startsWith('/v1')) {
      return [];
    }
    const operations = this.paths.find(({ pattern }) => pattern.test(path))?.operations;
    const operation = operations?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
    if (operation === undefined || answer.status === 414 || answer.text.includes('"malformed_url"')) {
      // Not an operation of the document: an error, or a CORS preflight.
      return answer.status === 204 ? [] : this.bodyProblems('Error', answer, method);
    }
    const response = operation.responses[answer.status] as ResponseObject | undefined;
    if (response === undefined) {
      return ['the status is not documented'];
    }
    const documented = Object.entries(response.headers ?? {}).map(([name, header]) => ({
      name: name.toLowerCase(),
      required: 'required' in header && header.required === true,
    }));
    const unknown = Object.keys(answer.headers).filter(
      (name) => !GENERAL_HEADERS.test(name) && !documented.some((header) => header.name === name),
    );
    const missing = documented.filter(({ name, required }) => required && !(name in answer.headers));
    const ref = (response.content?.['application/json']?.schema as { $ref?: string } | undefined)?.$ref ?? '';
    return [
      ...unknown.map((name) => `header ${name} is not documented`),
      ...missing.map(({ name }) => `header ${name} is missing`),
      ...this.bodyProblems(ref.split('/').at(-1) ?? '', answer, method),
    ];
  }

  private bodyProblems(schema: string, { text }: Answer, method: string): string[] {
    if (method === 'HEAD') {
      return text === '' ? [] : ['an answer to HEAD has a body'];
    }
    const validate = this.ajv.getSchema(`openapi#/components/schemas/${schema}`) as ValidateFunction;
    const body: unknown = JSON.parse(text);
    const undocumented =
      schema === 'Error' && Object.keys(body as object).length !== 3 ? ['an Error has three fields'] : [];
    return validate(body) ? undocumented : [this.ajv.errorsText(validate.errors)];
  }
}
