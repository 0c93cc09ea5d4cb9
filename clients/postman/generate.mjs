// Reads an OpenAPI document from standard input, and writes a Postman collection of its operations to standard output. Each
// request tests its status, and uses the ids that earlier requests of the collection created.
import { stdin, stdout } from 'node:process';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import converter from 'openapi-to-postmanv2';

// Without an example, the converter picks one of the values at random.
const document = JSON.parse(await text(stdin), (key, value) =>
  Array.isArray(value?.enum) ? { example: value.enum[0], ...value } : value,
);
const { result, reason, output } = await promisify(converter.convertV2)(
  { type: 'json', data: document },
  {
    folderStrategy: 'Tags',
    parametersResolution: 'Example',
    enableOptionalParameters: false,
    alwaysInheritAuthentication: true,
  },
);
if (!result) {
  throw new Error(reason);
}
const [{ data: collection }] = output;
const ids = new Map();
collection.item.flatMap(({ item }) => item).forEach(complete);
collection.auth.bearer[0].value = '{{apiKey}}';
collection.variable.push({ key: 'apiKey', value: '' }, ...[...ids].map(([key, value]) => ({ key, value })));
// Postman's IDs are random, and the import adds new ones.
const withoutIds = (key, value) => (key === 'id' || key === '_postman_id' ? undefined : value);
stdout.write(`${JSON.stringify(collection, withoutIds, 2)}\n`);

function complete(item) {
  const { url, method, header, body } = item.request;
  header
    .filter(({ key }) => key === 'Idempotency-Key')
    .forEach((field) => {
      // With the example of the document, every request would have the same key.
      field.value = '{{$guid}}';
    });
  url.variable.forEach((variable) => {
    ids.set(variable.key, variable.value);
    variable.value = `{{${variable.key}}}`;
  });
  if (body.raw !== undefined) {
    body.raw = body.raw.replaceAll(/"(\w+)": \d+/g, (field, name) =>
      ids.has(name) ? `"${name}": {{${name}}}` : field,
    );
  }
  const path = `/${url.path.join('/').replaceAll(/:(\w+)/g, '{$1}')}`;
  const status = Object.keys(document.paths[path][method.toLowerCase()].responses).find((each) => /^2/.test(each));
  const tests = [`pm.response.to.have.status(${status});`, ...keepId(path, status)].map((line) => `  ${line}`);
  const exec = [`pm.test('returns ${status}', () => {`, ...tests, '});'];
  item.event = [{ listen: 'test', script: { type: 'text/javascript', exec } }];
  // The API reference has examples of responses.
  item.response = [];
}

/** Keeps the ID in `Location` as a string, because a JavaScript number is only exact up to 2^53. */
function keepId(path, status) {
  const [, id] =
    Object.keys(document.paths)
      .join('\n')
      .match(new RegExp(`^${path}/\\{(\\w+)\\}$`, 'm')) ?? [];
  return status === '201' && id
    ? [`pm.collectionVariables.set('${id}', pm.response.headers.get('Location').split('/').pop());`]
    : [];
}
