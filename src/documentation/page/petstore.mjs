/* global SwaggerUIBundle */

/** Shows how stable an operation is, next to its path, where it is not stable yet. */
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

/** Shows the integers of an answer as they came: Swagger UI itself would round those beyond 2^53. */
const exactIntegers = {
  wrapComponents: {
    responseBody: (Original, { React: { createElement }, getComponent }) => {
      const HighlightCode = getComponent('HighlightCode', true);
      return (props) => {
        const text = exactJson(props);
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
  },
};

/** The answer with line breaks; undefined when it is no JSON, or in a browser that cannot keep integers exact. */
function exactJson({ content, contentType }) {
  if (typeof content !== 'string' || !/json/.test(contentType) || !('rawJSON' in JSON)) {
    return undefined;
  }
  try {
    const exact = (_key, value, { source }) => (typeof value === 'number' ? JSON.rawJSON(source) : value);
    return JSON.stringify(JSON.parse(content, exact), null, 2);
  } catch {
    return undefined;
  }
}

/** Fills in no Idempotency-Key: the second, different animal that is tried would be refused for using it again. */
const noIdempotencyKey = {
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (original) => (document) => {
          for (const { parameters = [] } of Object.values(document.paths).flatMap(Object.values)) {
            const key = parameters.find(({ name }) => name === 'Idempotency-Key');
            delete key?.example;
            delete key?.schema.example;
          }
          return original(document);
        },
      },
    },
  },
};

SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  persistAuthorization: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  showExtensions: true,
  validatorUrl: null,
  plugins: [stabilityBadge, exactIntegers, noIdempotencyKey],
});
