/* global document, fetch, location, matchMedia, SwaggerUIBundle, URL, URLSearchParams */

/** Shows the stability level next to the path of an operation that is not stable yet. */
const stabilityBadge = {
  wrapComponents: {
    OperationSummaryPath:
      (Original, { React: { createElement, Fragment }, specSelectors }) =>
      (props) => {
        const { path, method } = props.operationProps.toObject();
        const stability = specSelectors.specJson().getIn(['paths', path, method, 'x-stability']);
        const badge = stability && createElement('span', { className: 'stability' }, stability);
        return createElement(Fragment, null, createElement(Original, props), badge);
      },
  },
};

/** Folds the documented headers of each response, which are long and mostly the same. */
const foldedHeaders = {
  wrapComponents: {
    headers:
      (Original, { React: { createElement } }) =>
      (props) =>
        props.headers?.size > 0 &&
        createElement(
          'details',
          { className: 'response-headers' },
          createElement('summary', null, 'Headers'),
          createElement(Original, props),
        ),
  },
};

/** Shows the integers of a response exactly: Swagger UI itself rounds those beyond 2^53. */
const exactIntegers = {
  wrapComponents: {
    responseBody: (Original, { React: { createElement }, getComponent }) => {
      const HighlightCode = getComponent('HighlightCode', true);
      return (props) => {
        const text = formatJson(props);
        if (text === undefined) {
          return createElement(Original, props);
        }
        const code = { language: 'json', fileName: 'response.json', downloadable: true, canCopy: true };
        return createElement(
          'div',
          null,
          createElement('h5', null, 'Response body'),
          createElement(HighlightCode, code, text),
        );
      };
    },
    // The document's bounds of int64 are exact, but Swagger UI reads them as doubles.
    JSONSchema202012KeywordConstraint:
      (Original, { React: { createElement } }) =>
      ({ constraint }) => {
        const value = constraint.value.replace(/-?\d{16,}/g, (rounded) => exactBounds.get(rounded) ?? rounded);
        return createElement(Original, { constraint: { ...constraint, value } });
      },
  },
  statePlugins: {
    spec: {
      wrapActions: {
        updateSpec: (original) => (text) => {
          for (const [digits] of text.matchAll(/-?\d{16,}/g)) {
            exactBounds.set(String(Number(digits)), digits);
          }
          return original(text);
        },
      },
    },
  },
};

/** The integers in the document that a double cannot represent, by their rounded form. */
const exactBounds = new Map();

/** Formats a JSON response with line breaks, changing only whitespace; undefined if it is not JSON. */
function formatJson({ content, contentType }) {
  if (typeof content !== 'string' || !/json/.test(contentType)) {
    return undefined;
  }
  try {
    JSON.parse(content);
  } catch {
    return undefined;
  }
  let depth = 0;
  const startLine = (change) => `\n${'  '.repeat((depth += change))}`;
  const formatToken = (token) => {
    switch (token[0]) {
      case '{':
      case '[':
        return token.length > 1 ? token : token + startLine(1);
      case '}':
      case ']':
        return startLine(-1) + token;
      case ',':
        return token + startLine(0);
      case ':':
        return ': ';
      default:
        return token;
    }
  };
  const tokens = content.match(/"(?:\\.|[^"\\])*"|\{\s*\}|\[\s*\]|[{}[\],:]|[^\s{}[\],:"]+/g);
  return tokens.map(formatToken).join('');
}

/**
 * Leaves Idempotency-Key empty: with a prefilled key, a second, different animal would be rejected because the key was reused.
 * Leaves X-Request-Id empty as well, because each request has its own.
 */
const noFixedIds = {
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (original) => (document) => {
          const operations = Object.values(document.paths).flatMap(Object.values);
          const shared = Object.values(document.components?.parameters ?? {});
          for (const parameter of [...shared, ...operations.flatMap(({ parameters = [] }) => parameters)]) {
            if (['Idempotency-Key', 'X-Request-Id'].includes(parameter.name)) {
              delete parameter.example;
            }
          }
          return original(document);
        },
      },
    },
  },
};

/** Shows a sent request in JavaScript and Python below its curl command. */
const samples = {
  fn: {
    requestSnippetGenerator_javascript: (request) => {
      const { url, method, headers, body } = readRequest(request);
      const options = [`  method: ${quote(method)},`, `  headers: ${indent(formatObject(headers))},`];
      if (body !== undefined) {
        options.push(`  body: ${quote(body)},`);
      }
      return [
        `const response = await fetch(${quote(url)}, {`,
        ...options,
        '});',
        'console.log(response.status, await response.text());',
      ].join('\n');
    },
    requestSnippetGenerator_python: (request) => {
      const { url, method, headers, body } = readRequest(request);
      return [
        'import urllib.error',
        'import urllib.request',
        '',
        'request = urllib.request.Request(',
        `    ${quote(url)},`,
        `    method=${quote(method)},`,
        `    headers=${indent(formatObject(headers), 4)},`,
        ...(body === undefined ? [] : [`    data=${quote(body)}.encode(),`]),
        ')',
        'try:',
        '    with urllib.request.urlopen(request) as response:',
        '        print(response.status, response.read().decode())',
        'except urllib.error.HTTPError as error:',
        '    print(error.code, error.read().decode())',
      ].join('\n');
    },
  },
};

function readRequest(request) {
  const body = request.get('body');
  return {
    url: request.get('url'),
    method: request.get('method').toUpperCase(),
    headers: request.get('headers').toObject(),
    body: body === undefined || body === '' ? undefined : String(body),
  };
}

/** Returns a string literal that is valid in JavaScript and Python. */
function quote(text) {
  return JSON.stringify(text);
}

function formatObject(fields) {
  const lines = Object.entries(fields).map(([name, value]) => `  ${quote(name)}: ${quote(value)},`);
  return `{\n${lines.join('\n')}\n}`;
}

function indent(text, spaces = 2) {
  return text.replaceAll('\n', `\n${' '.repeat(spaces)}`);
}

/** Enables Swagger UI's dark theme, which depends on a class. */
const dark = matchMedia('(prefers-color-scheme: dark)');
const followSystem = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followSystem);
followSystem();

/** The OpenAPI documents of the versions of the API. `?version=v2` selects one. */
const documents = await (await fetch(new URL('openapi-documents.json', import.meta.url))).json();
const version = new URLSearchParams(location.search).get('version');
const selected = documents.find(({ name }) => name === version) ?? documents[0];

if (documents.length > 1) {
  const links = documents.map(({ name }) => {
    const link = Object.assign(document.createElement('a'), { href: `reference?version=${name}`, textContent: name });
    if (name === selected.name) {
      link.setAttribute('aria-current', 'page');
    }
    return link;
  });
  document.querySelector('.versions').append('API version: ', ...links);
}

SwaggerUIBundle({
  url: new URL(selected.url, import.meta.url).href,
  dom_id: '#swagger-ui',
  deepLinking: true,
  persistAuthorization: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  showExtensions: true,
  validatorUrl: null,
  requestSnippetsEnabled: true,
  requestSnippets: {
    generators: {
      curl_bash: { title: 'curl', syntax: 'bash' },
      javascript: { title: 'JavaScript', syntax: 'javascript' },
      python: { title: 'Python', syntax: 'python' },
    },
    defaultExpanded: true,
    languages: ['curl_bash', 'javascript', 'python'],
  },
  plugins: [stabilityBadge, foldedHeaders, exactIntegers, noFixedIds, samples],
});
