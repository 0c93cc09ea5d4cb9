/* global addEventListener, document, fetch, localStorage, location, MutationObserver, sessionStorage, SwaggerUIBundle, URL, URLSearchParams */
import { cleanKey, findKeyProblem } from './key.mjs';
import { renderOperationLinks } from './operations.mjs';
import { createExampleRequest, LANGUAGES } from './samples.mjs';

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

/** Scrolls to an operation so that the header of the page does not cover it. */
const visibleOperation = {
  statePlugins: { layout: { wrapActions: { scrollToElement: () => (element) => element.scrollIntoView() } } },
};

/** Completes the list of operations with those of the selected document, and shortens what the guides explain. */
const preparedDocument = {
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (original) => (spec) => {
          document.querySelector('.operations').innerHTML = renderOperationLinks(spec);
          markCurrentOperation();
          for (const field of ['description', 'contact', 'license']) {
            delete spec.info[field];
          }
          delete spec.externalDocs;
          removeFixedIds(spec);
          return original(spec);
        },
      },
    },
  },
};

/**
 * Leaves Idempotency-Key empty: with a prefilled key, a second, different animal would be rejected because the key was reused.
 * Leaves X-Request-Id empty as well, because each request has its own.
 */
function removeFixedIds({ paths, components }) {
  const operations = Object.values(paths).flatMap(Object.values);
  const shared = Object.values(components?.parameters ?? {});
  for (const parameter of [...shared, ...operations.flatMap(({ parameters = [] }) => parameters)]) {
    if (['Idempotency-Key', 'X-Request-Id'].includes(parameter.name)) {
      delete parameter.example;
    }
  }
}

/** Shows a request in several languages, before and after it is sent. */
const samples = ({ React: { createElement, Fragment, useState } }) => {
  const RequestSnippets = ({ request, getComponent, specSelectors }) => {
    // The guides use the same choice.
    const [current, setCurrent] = useState(
      () => LANGUAGES.find(({ id }) => id === localStorage.getItem('language')) ?? LANGUAGES[0],
    );
    const select = (language) => {
      localStorage.setItem('language', language.id);
      setCurrent(language);
    };
    const moveFocus = ({ key, currentTarget }) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
      if (step !== undefined) {
        const next = (LANGUAGES.indexOf(current) + step + LANGUAGES.length) % LANGUAGES.length;
        select(LANGUAGES[next]);
        currentTarget.children[next].focus();
      }
    };
    const tabs = LANGUAGES.map((language) =>
      createElement(
        'button',
        {
          key: language.name,
          type: 'button',
          role: 'tab',
          'aria-selected': language === current,
          tabIndex: language === current ? 0 : -1,
          onClick: () => select(language),
        },
        language.name,
      ),
    );
    const HighlightCode = getComponent('HighlightCode', true);
    return createElement(
      'div',
      { className: 'request-snippets' },
      createElement(
        'div',
        { role: 'tablist', 'aria-label': 'Language', className: 'tabs', onKeyDown: moveFocus },
        tabs,
      ),
      createElement(
        'div',
        { role: 'tabpanel', 'aria-label': current.name },
        createElement(
          HighlightCode,
          { language: current.syntax, canCopy: true },
          current.format(request, specSelectors.specJson().toJS()),
        ),
      ),
    );
  };
  /** The samples, above the documented responses, until a request is sent; then Swagger UI shows its samples above the response. */
  const Responses =
    (Original, { getComponent, specSelectors, oas3Selectors }) =>
    (props) => {
      const spec = specSelectors.specJson().toJS();
      const server = oas3Selectors.selectedServer() || spec.servers?.[0]?.url || '..';
      const isError = (_response, status) => !/^[123]/.test(status);
      const errors = props.responses.filter(isError);
      return createElement(
        Fragment,
        null,
        !props.tryItOutResponse &&
          createElement(
            'div',
            { className: 'samples' },
            createElement('h4', null, 'Request'),
            createElement(getComponent('RequestSnippets', true), {
              request: createExampleRequest(spec, new URL(server, import.meta.url).href, props.path, props.method),
            }),
          ),
        createElement(Original, { ...props, responses: props.responses.filterNot(isError) }),
        errors.size > 0 && createErrorTable(errors, getComponent),
      );
    };
  /** All errors of an operation in one table; the guide explains each code. */
  const createErrorTable = (errors, getComponent) => {
    const rows = errors.entrySeq().map(([status, response]) => {
      const codes = (response.getIn(['content', 'application/json', 'examples'])?.keySeq() ?? []).map((code) =>
        createElement('a', { key: code, href: `errors#${code}` }, createElement('code', null, code)),
      );
      const Headers = getComponent('headers');
      return createElement(
        'tr',
        { key: status, className: 'response', 'data-code': status },
        createElement('th', { scope: 'row' }, status),
        createElement('td', null, createElement('div', { className: 'codes' }, codes)),
        createElement(
          'td',
          null,
          response.get('description').replaceAll('`', ''),
          createElement(Headers, { headers: response.get('headers'), getComponent }),
        ),
      );
    });
    const head = ['Status', 'Codes', 'Meaning'].map((title) =>
      createElement('th', { key: title, scope: 'col' }, title),
    );
    return createElement(
      'div',
      { className: 'errors' },
      createElement('h4', null, 'Errors'),
      createElement(
        'table',
        null,
        createElement('thead', null, createElement('tr', null, head)),
        createElement('tbody', null, rows),
      ),
    );
  };
  // The summary of an operation is a button, in which a link would be unreachable for some readers.
  const DeepLink = ({ text }) => createElement('span', null, text);
  return {
    components: { RequestSnippets, DeepLink },
    wrapComponents: { responses: Responses },
  };
};

const KEY_PREFIX = document.querySelector('meta[name="key-prefix"]').content;
const STORED_KEYS = 'api-keys';

/** The dialog for the API key: checks the key in the page, and keeps it for the session, or on this device. */
const keyDialog = {
  wrapComponents: {
    HttpAuth:
      (Original, { React: { createElement, useState } }) =>
      (props) => {
        const { schema, name, authorized, onChange } = props;
        const [problem, setProblem] = useState();
        if (schema.get('bearerFormat') !== 'API key') {
          return createElement(Original, props);
        }
        const known = authorized?.getIn([name, 'value']);
        if (known) {
          return createElement(
            'p',
            null,
            'This page sends your key ',
            createElement('code', null, maskKey(known)),
            '.',
          );
        }
        const change = ({ target }) => {
          const value = cleanKey(target.value);
          setProblem(value === '' ? undefined : findKeyProblem(value, KEY_PREFIX));
          onChange({ name, schema, value });
        };
        return createElement(
          'div',
          { className: 'key' },
          createElement('label', { htmlFor: 'api-key' }, 'API key'),
          createElement('input', {
            id: 'api-key',
            type: 'password',
            autoComplete: 'off',
            spellCheck: false,
            placeholder: `${KEY_PREFIX}…`,
            'aria-describedby': 'api-key-problem',
            'aria-invalid': problem !== undefined,
            autoFocus: true,
            onChange: change,
          }),
          createElement('p', { id: 'api-key-problem', role: 'status' }, problem),
          createElement(
            'label',
            { className: 'remember' },
            createElement('input', {
              type: 'checkbox',
              defaultChecked: isRemembered,
              onChange: ({ target }) => (isRemembered = target.checked),
            }),
            ' Remember the key on this device. Otherwise, it is forgotten when you close this tab.',
          ),
        );
      },
  },
  statePlugins: {
    auth: {
      wrapActions: Object.fromEntries(
        ['authorize', 'logout'].map((action) => [
          action,
          (original, { authSelectors }) =>
            (payload) => {
              const result = original(payload);
              storeKeys(authSelectors.authorized());
              return result;
            },
        ]),
      ),
    },
  },
};
let isRemembered = localStorage.getItem(STORED_KEYS) !== null;

const maskKey = (key) => `${key.slice(0, KEY_PREFIX.length + 4)}…`;

function storeKeys(authorized) {
  const [kept, cleared] = isRemembered ? [localStorage, sessionStorage] : [sessionStorage, localStorage];
  cleared.removeItem(STORED_KEYS);
  if (authorized.size > 0) {
    kept.setItem(STORED_KEYS, JSON.stringify(authorized));
  } else {
    kept.removeItem(STORED_KEYS);
  }
}

/** Marks the operation in the address bar, in the list of operations. */
function markCurrentOperation() {
  for (const link of document.querySelectorAll('.operations a')) {
    const isCurrent = decodeURIComponent(link.hash) === decodeURIComponent(location.hash);
    link.toggleAttribute('aria-current', isCurrent);
  }
}

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

const ui = SwaggerUIBundle({
  url: new URL(selected.url, import.meta.url).href,
  dom_id: '#swagger-ui',
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  showExtensions: true,
  validatorUrl: null,
  requestSnippetsEnabled: true,
  plugins: [stabilityBadge, foldedHeaders, exactIntegers, visibleOperation, preparedDocument, samples, keyDialog],
  onComplete: () => {
    const stored = sessionStorage.getItem(STORED_KEYS) ?? localStorage.getItem(STORED_KEYS);
    if (stored !== null) {
      ui.authActions.authorize(JSON.parse(stored));
    }
  },
});

/**
 * Names the fields and the dialog, and makes the scrolling areas reachable by keyboard, which Swagger UI does not do (its issues 10698, 10709 and 9582).
 */
new MutationObserver(() => {
  for (const field of document.querySelectorAll('.swagger-ui :is(select, textarea):not([aria-label])')) {
    const row = field.closest('[data-param-name]');
    field.ariaLabel =
      field.id === 'servers'
        ? 'Server'
        : (row?.dataset.paramName ?? (field.matches('textarea') ? 'Request body' : 'Media type'));
  }
  for (const area of document.querySelectorAll('.swagger-ui :is(pre, .table-container):not([tabindex])')) {
    area.tabIndex = 0;
  }
  for (const dialog of document.querySelectorAll('.swagger-ui .modal-ux:not([role])')) {
    Object.assign(dialog, { role: 'dialog', ariaModal: 'true', ariaLabel: 'Authorize' });
    dialog.querySelector('.close-modal').ariaLabel = 'Close';
  }
  // Their names differ from the text that they show.
  for (const button of document.querySelectorAll('.swagger-ui .modal-btn[aria-label]')) {
    button.removeAttribute('aria-label');
  }
}).observe(document.getElementById('swagger-ui'), { childList: true, subtree: true });

addEventListener('hashchange', () => {
  const hash = decodeURIComponent(location.hash);
  ui.layoutActions.parseDeepLinkHash(hash);
  // Swagger UI scrolls only to operations that it has not shown yet.
  const id = hash.replace('#/', 'operations-').replace('/', '-').replace(/\s/g, '_');
  document.getElementById(id)?.scrollIntoView();
  markCurrentOperation();
});
