/* global URL */

/** The languages of samples: their IDs in the choice of the reader, and functions of a request and the OpenAPI document. */
export const LANGUAGES = [
  { id: 'sh', name: 'curl', syntax: 'bash', format: formatCurl },
  { id: 'ts', name: 'TypeScript', syntax: 'javascript', format: formatTypeScript },
  { id: 'js', name: 'JavaScript', syntax: 'javascript', format: formatJavaScript },
  { id: 'python', name: 'Python', syntax: 'python', format: formatPython },
];

/** The variable that stands for the API key in samples, which never contain the key itself. */
const KEY = 'KEY';

/** A request as all samples need it. Without a value, the header has the credentials. */
function readRequest({ url, method, headers, body }) {
  return {
    url,
    method: method.toUpperCase(),
    headers: Object.entries(headers).map(([name, value]) =>
      /^authorization$/i.test(name) ? [name, undefined] : [name, String(value)],
    ),
    body: body === undefined || body === '' ? undefined : String(body).replace(/\s*\n\s*/g, ' '),
  };
}

/** Returns a string literal that is valid in JavaScript and Python. */
const quote = (text) => JSON.stringify(text);
/** Does so for JSON, with as few escapes as possible. */
const quoteJson = (json) => (/['\\]/.test(json) ? quote(json) : `'${json}'`);
const quoteShell = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns an object literal at an indentation level, in which a token stands for the credentials. */
function formatFields(fields, token, indentation) {
  const lines = fields.map(
    ([name, value]) => `${indentation.repeat(2)}${quote(name)}: ${value === undefined ? token : quote(value)},\n`,
  );
  return `{\n${lines.join('')}${indentation}}`;
}

function formatCurl(request) {
  const { url, method, headers, body } = readRequest(request);
  const options = [
    `curl -i${method === 'GET' ? '' : ` -X ${method}`} ${quoteShell(url)}`,
    ...headers.map(([name, value]) =>
      value === undefined ? `-H "${name}: Bearer $${KEY}"` : `-H ${quoteShell(`${name}: ${value}`)}`,
    ),
    ...(body === undefined ? [] : [`-d ${quoteShell(body)}`]),
  ];
  return options.join(' \\\n  ');
}

function formatJavaScript(request) {
  const { url, method, headers, body } = readRequest(request);
  return [
    `const response = await fetch(${quote(url)}, {`,
    `  method: ${quote(method)},`,
    `  headers: ${formatFields(headers, `\`Bearer \${process.env.${KEY}}\``, '  ')},`,
    ...(body === undefined ? [] : [`  body: ${quoteJson(body)},`]),
    '});',
    'console.log(response.status, response.headers, await response.text());',
  ].join('\n');
}

function formatPython(request) {
  const { url, method, headers, body } = readRequest(request);
  return [
    'import os',
    'import urllib.error',
    'import urllib.request',
    '',
    'request = urllib.request.Request(',
    `    ${quote(url)},`,
    `    method=${quote(method)},`,
    `    headers=${formatFields(headers, `"Bearer " + os.environ["${KEY}"]`, '    ')},`,
    ...(body === undefined ? [] : [`    data=${quoteJson(body)}.encode(),`]),
    ')',
    'try:',
    '    with urllib.request.urlopen(request) as response:',
    '        print(response.status, response.headers, response.read().decode())',
    'except urllib.error.HTTPError as error:',
    '    print(error.code, error.headers, error.read().decode())',
  ].join('\n');
}

/** Formats a call of the typed client. */
function formatTypeScript(request, document) {
  const { url, method, headers, body } = readRequest(request);
  const call = findCall(document, url, method);
  if (call === undefined) {
    return '// The typed client has no method for this request.';
  }
  const { baseUrl, operation, parameters } = call;
  const sent = headers.filter(([name]) => operation.headers.includes(name.toLowerCase()));
  const fields = [
    ...[
      ['path', parameters.path],
      ['query', parameters.query],
      ['header', sent.map(([name, value]) => [name, quote(value)])],
    ]
      .filter(([, values]) => values.length > 0)
      .map(
        ([name, values]) => `${name}: { ${values.map(([key, value]) => `${formatName(key)}: ${value}`).join(', ')} }`,
      ),
    ...(body === undefined ? [] : [`body: ${formatLiteral(body, operation.isInt64)}`]),
  ];
  return [
    "import { createPetStore } from 'petstore-client';",
    '',
    'const petStore = createPetStore({',
    `  baseUrl: ${quote(baseUrl)},`,
    `  apiKey: process.env.${KEY} ?? '',`,
    '});',
    `console.log(await petStore.${operation.operationId}(${fields.length === 0 ? '' : `{ ${fields.join(', ')} }`}));`,
  ].join('\n');
}

const formatName = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name));

/** Finds the operation that a request calls, with its parameters as literals. */
function findCall(document, url, method) {
  const { origin, pathname, searchParams } = new URL(url);
  for (const [template, item] of Object.entries(document.paths)) {
    const operation = item[method.toLowerCase()];
    const pattern = new RegExp(`^(.*?)${template.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
    const match = operation && pattern.exec(pathname);
    if (match) {
      const declared = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((parameter) =>
        resolve(document, parameter),
      );
      const toLiterals = (entries, place) =>
        entries.map(([name, value]) => {
          const schema = declared.find((parameter) => parameter.name === name && parameter.in === place)?.schema;
          return [name, formatParameter(value, schema)];
        });
      return {
        baseUrl: origin + match[1],
        operation: {
          operationId: operation.operationId,
          headers: declared.filter((parameter) => parameter.in === 'header').map(({ name }) => name.toLowerCase()),
          isInt64: createInt64Test(document, operation),
        },
        parameters: {
          path: toLiterals(
            Object.entries(match.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]),
            'path',
          ),
          query: toLiterals([...searchParams], 'query'),
        },
      };
    }
  }
  return undefined;
}

function resolve(document, value) {
  return value?.$ref === undefined
    ? value
    : resolve(
        document,
        value.$ref
          .slice(2)
          .split('/')
          .reduce((node, name) => node[name], document),
      );
}

function formatParameter(value, schema) {
  if (schema?.type !== 'integer' || !/^-?\d+$/.test(value)) {
    return quote(value);
  }
  return schema.format === 'int64' ? `${value}n` : value;
}

/** Whether a field of the body is an int64, which the typed client reads and writes as a `bigint`. */
function createInt64Test(document, operation) {
  const schema = resolve(document, operation.requestBody?.content?.['application/json']?.schema);
  return (name) => resolve(document, schema?.properties?.[name])?.format === 'int64';
}

/** Turns JSON into a literal of TypeScript. Integers keep their digits. */
function formatLiteral(json, isInt64) {
  return json
    .replace(/("(?:\\.|[^"\\])*")\s*:\s*(-?\d+)(?=\s*[,}])/g, (_, name, digits) =>
      isInt64(JSON.parse(name)) ? `${name}: ${digits}n` : `${name}: ${digits}`,
    )
    .replace(/"([A-Za-z_]\w*)"\s*:/g, '$1:');
}
