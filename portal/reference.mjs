/* global addEventListener, document, Event, fetch, history, localStorage, location, MutationObserver, SwaggerUIBundle, URL, URLSearchParams */
import { announce } from './guide.mjs';
import { keyDialog, restoreKeys } from './key-dialog.mjs';
import { getElementId, parseLink, renderOperationLinks } from './operations.mjs';
import { LANGUAGES } from './samples.mjs';

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
 * Keeps the link to the operation that the reader opened last in the address bar. Swagger UI itself adds entries to the history, so Back
 * stays on the page.
 */
const addressBar = {
  statePlugins: {
    layout: {
      wrapActions: {
        show:
          (original) =>
          (key, isShown = true) => {
            const [kind, tag, operationId] = [key].flat();
            if (kind === 'operations' && operationId !== undefined && isShown) {
              history.replaceState(null, '', `#/${encodeURIComponent(tag)}/${encodeURIComponent(operationId)}`);
            }
            return original(key, isShown);
          },
      },
    },
  },
};

/** Opens the operation, or the group, in the address bar, and moves the focus to it. */
function openLinkedOperation() {
  const [tag, operationId] = parseLink(location.hash);
  if (tag === undefined) {
    return;
  }
  ui.layoutActions.show(['operations-tag', tag], true);
  if (operationId !== undefined) {
    ui.layoutActions.show(['operations', tag, operationId], true);
  }
  const operation = document.getElementById(getElementId(location.hash));
  operation?.scrollIntoView();
  operation?.querySelector('.opblock-summary-control')?.focus({ preventScroll: true });
}

/** Completes the list of operations with those of the selected document, and shortens what the guides explain. */
const preparedDocument = {
  statePlugins: {
    spec: {
      wrapActions: {
        updateJsonSpec: (original) => (spec) => {
          document.querySelector('.operations').innerHTML = renderOperationLinks(spec);
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

/** Shows the request that the form describes in several languages, and the errors in one table. */
const samples = ({ React: { createElement, Fragment, useEffect, useState } }) => {
  const Samples = ({ path, method, getComponent, specSelectors, oas3Selectors, fn }) => {
    // The guides use the same choice.
    const [language, setLanguage] = useState(readLanguage);
    useEffect(() => {
      const update = () => setLanguage(readLanguage());
      document.addEventListener(LANGUAGE_CHANGE, update);
      return () => document.removeEventListener(LANGUAGE_CHANGE, update);
    }, []);
    const select = ({ id }) => {
      localStorage.setItem('language', id);
      document.dispatchEvent(new Event(LANGUAGE_CHANGE));
    };
    const moveFocus = ({ key, currentTarget }) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
      if (step !== undefined) {
        const next = (LANGUAGES.indexOf(language) + step + LANGUAGES.length) % LANGUAGES.length;
        select(LANGUAGES[next]);
        currentTarget.children[next].focus();
      }
    };
    const tabs = LANGUAGES.map((each) =>
      createElement(
        'button',
        {
          key: each.name,
          type: 'button',
          role: 'tab',
          'aria-selected': each === language,
          tabIndex: each === language ? 0 : -1,
          onClick: () => select(each),
        },
        each.name,
      ),
    );
    const spec = specSelectors.specJsonWithResolvedSubtrees().toJS();
    const body = oas3Selectors.requestBodyValue(path, method);
    const request = fn.buildRequest({
      spec,
      contextUrl: new URL(specSelectors.url(), location.href).href,
      server: oas3Selectors.selectedServer() || spec.servers?.[0]?.url,
      operationId: spec.paths[path][method].operationId,
      parameters: specSelectors.parameterValues([path, method]).toJS(),
      requestContentType: oas3Selectors.requestContentType(path, method),
      requestBody: body?.toJS?.() ?? body,
    });
    // Every response is JSON. Samples read the key from a variable.
    const headers = { ...request.headers, Authorization: '' };
    delete headers.accept;
    const code = language.format({ ...request, headers }, specSelectors.specJson().toJS());
    return createElement(
      'div',
      { className: 'samples' },
      createElement('h4', null, 'Request'),
      createElement(
        'div',
        { role: 'tablist', 'aria-label': 'Language', className: 'tabs', onKeyDown: moveFocus },
        tabs,
      ),
      createElement(
        'div',
        { role: 'tabpanel', 'aria-label': language.name },
        createElement(getComponent('HighlightCode', true), { language: language.syntax, canCopy: true }, code),
      ),
    );
  };
  const Responses =
    (Original, { getComponent }) =>
    (props) => {
      const isError = (_response, status) => !/^[123]/.test(status);
      const errors = props.responses.filter(isError);
      return createElement(
        Fragment,
        null,
        createElement(getComponent('Samples', true), { path: props.path, method: props.method }),
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
  // The sent request is the one in the samples.
  const curl = () => null;
  return { components: { Samples, DeepLink, curl }, wrapComponents: { responses: Responses } };
};
const LANGUAGE_CHANGE = 'languagechange';
const readLanguage = () => LANGUAGES.find(({ id }) => id === localStorage.getItem('language')) ?? LANGUAGES[0];

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

history.scrollRestoration = 'manual';
const ui = SwaggerUIBundle({
  url: new URL(selected.url, import.meta.url).href,
  dom_id: '#swagger-ui',
  tryItOutEnabled: true,
  displayRequestDuration: true,
  showExtensions: true,
  validatorUrl: null,
  plugins: [stabilityBadge, foldedHeaders, exactIntegers, addressBar, preparedDocument, samples, keyDialog],
  onComplete: () => {
    restoreKeys(ui);
    openLinkedOperation();
  },
});

/** The operation whose request was sent last, until the next click. */
let executed;
document.addEventListener(
  'click',
  ({ target }) => {
    executed = target.closest('.execute')?.closest('.opblock');
  },
  true,
);
let announced = '';
/**
 * Names the fields and marks invalid ones, makes the scrolling areas reachable by keyboard, announces responses, and keeps the focus, which
 * Swagger UI does not do (its issues 10698, 10709 and 9582).
 */
new MutationObserver(() => {
  for (const field of document.querySelectorAll(
    '.swagger-ui :is(select, textarea, [data-param-name] input[type="text"])',
  )) {
    const row = field.closest('[data-param-name]');
    const name = row?.dataset.paramName ?? (field.matches('textarea') ? 'Request body' : 'Media type');
    field.ariaLabel = field.id === 'servers' ? 'Server' : name;
    field.ariaInvalid = String(field.matches('.invalid'));
  }
  for (const area of document.querySelectorAll('.swagger-ui :is(pre, .table-container):not([tabindex])')) {
    area.tabIndex = 0;
  }
  if (executed) {
    const status = executed.querySelector('.live-responses-table .response .response-col_status')?.innerText;
    const news = executed.querySelector('.validation-errors')?.innerText ?? (status ? `Response ${status}` : '');
    if (news !== announced) {
      announce((announced = news));
    }
    if (document.activeElement === document.body) {
      executed.querySelector('.execute')?.focus({ preventScroll: true });
    }
  }
}).observe(document.getElementById('swagger-ui'), {
  childList: true,
  subtree: true,
  attributes: true,
  attributeFilter: ['class'],
});

addEventListener('hashchange', openLinkedOperation);
// A link to the operation in the address bar changes nothing there.
document.addEventListener('click', ({ target }) => {
  if (target.closest('a')?.href === location.href) {
    openLinkedOperation();
  }
});
