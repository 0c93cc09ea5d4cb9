/* global document, localStorage, MutationObserver, sessionStorage */
import { cleanKey, findKeyProblem } from './key.mjs';

const KEY_PREFIX = document.querySelector('meta[name="key-prefix"]').content;
const STORED_KEYS = 'api-keys';

/** Shows a problem with the key in the dialog. */
let showProblem = () => undefined;

/** The dialog for the API key: checks the key in the page, and keeps it for the session, or on this device. */
export const keyDialog = {
  wrapComponents: {
    HttpAuth:
      (Original, { React: { createElement, useState } }) =>
      (props) => {
        const { schema, name, authorized, onChange } = props;
        const [problem, setProblem] = useState();
        if (!isApiKey(schema)) {
          return createElement(Original, props);
        }
        showProblem = setProblem;
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
              const wrongKey = action === 'authorize' ? findWrongKey(payload) : undefined;
              if (wrongKey !== undefined) {
                showProblem(findKeyProblem(wrongKey, KEY_PREFIX));
                document.getElementById('api-key')?.focus();
                return undefined;
              }
              const result = original(payload);
              storeKeys(authSelectors.authorized());
              return result;
            },
        ]),
      ),
    },
  },
};
const isApiKey = (schema) => (schema.get?.('bearerFormat') ?? schema.bearerFormat) === 'API key';

/** Finds a key that cannot be right; it is empty if no credential was given. */
function findWrongKey(payload) {
  const given = Object.values(payload).filter(({ value }) => value);
  const isWrong = ({ schema, value }) => isApiKey(schema) && findKeyProblem(value, KEY_PREFIX) !== undefined;
  return given.length === 0 ? '' : given.find(isWrong)?.value;
}

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

/** Uses the keys that the reader entered before. */
export function restoreKeys(ui) {
  const stored = sessionStorage.getItem(STORED_KEYS) ?? localStorage.getItem(STORED_KEYS);
  if (stored === null) {
    return;
  }
  try {
    ui.authActions.authorize(JSON.parse(stored));
  } catch {
    // Another page of this origin has stored something else under this name.
    storeKeys(new Map());
  }
}

const findDialog = () => document.querySelector('.swagger-ui .modal-ux');
let opener;
let isOpen = false;
document.addEventListener(
  'click',
  ({ target }) => {
    if (!findDialog()) {
      opener = target.closest('.authorize, .authorization__btn') ?? opener;
    }
  },
  true,
);

// Names the dialog, and keeps the focus in it until it is closed, which Swagger UI does not do (its issue 9582).
new MutationObserver(() => {
  const dialog = findDialog();
  if (dialog) {
    Object.assign(dialog, { role: 'dialog', ariaModal: 'true', ariaLabel: 'Authorize', tabIndex: -1 });
    dialog.querySelector('.close-modal').ariaLabel = 'Close';
    // Their names differ from the text that they show.
    for (const button of dialog.querySelectorAll('.modal-btn[aria-label]')) {
      button.removeAttribute('aria-label');
    }
    if (!dialog.contains(document.activeElement)) {
      dialog.focus();
    }
  } else if (isOpen) {
    opener?.focus();
  }
  isOpen = dialog !== null;
}).observe(document.getElementById('swagger-ui'), { childList: true, subtree: true });

document.addEventListener('keydown', (event) => {
  const dialog = findDialog();
  if (!dialog) {
    return;
  }
  const stops = [...dialog.querySelectorAll('a[href], button, input')];
  const [edge, next] = event.shiftKey ? [stops[0], stops.at(-1)] : [stops.at(-1), stops[0]];
  const { activeElement } = document;
  if (event.key === 'Escape') {
    dialog.querySelector('.close-modal').click();
  } else if (
    event.key === 'Tab' &&
    (activeElement === edge || activeElement === dialog || !dialog.contains(activeElement))
  ) {
    event.preventDefault();
    next.focus();
  }
});
