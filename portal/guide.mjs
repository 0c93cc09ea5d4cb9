/* global addEventListener, document, fetch, getComputedStyle, innerHeight, localStorage, location, navigator, scrollBy, scrollY, setTimeout, URL */
import { getElementId } from './operations.mjs';
import { INDEX_OPTIONS, prepareQuery } from './search.mjs';

/** The directory of the pages and assets, with a trailing slash. */
const DOCS = new URL('./', import.meta.url);
/** Stands for the URL of the service in the examples, if the service does not know its URL. */
const UNKNOWN_ORIGIN = 'https://HOST';
const MAX_RESULTS = 8;

// Redirects old links to operations, which pointed to the home page.
if (location.hash.startsWith('#/') && !document.getElementById('swagger-ui')) {
  location.replace(new URL(`reference${location.hash}`, DOCS));
}

/** Adds a copy button to each example. */
function completeExamples() {
  const serviceUrl = new URL('..', DOCS).href.replace(/\/$/, '');
  for (const code of document.querySelectorAll('.listing code')) {
    for (const node of [...code.childNodes].filter(({ textContent }) => textContent.includes(UNKNOWN_ORIGIN))) {
      node.textContent = node.textContent.replaceAll(UNKNOWN_ORIGIN, serviceUrl);
    }
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await copy(code.textContent);
      button.textContent = 'Copied';
      announce('Copied');
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2_000);
    });
    code.closest('.listing').append(button);
  }
}

/** Shows all samples in the language that the reader chose last. */
function connectSamples() {
  const show = (language) => {
    document.querySelectorAll(`.samples input[value="${language}"]`).forEach((input) => {
      input.checked = true;
    });
  };
  show(localStorage.getItem('language') ?? 'sh');
  document.addEventListener('change', ({ target }) => {
    if (target.closest('.samples')) {
      const { top } = target.getBoundingClientRect();
      localStorage.setItem('language', target.value);
      show(target.value);
      // The samples above have another height now.
      scrollBy(0, target.getBoundingClientRect().top - top);
    }
  });
}

/** Shows the sidebar on narrow screens, over the content. */
function connectMenu() {
  const [button, sidebar] = [document.querySelector('.menu'), document.getElementById('sidebar')];
  const setOpen = (isOpen) => {
    sidebar.classList.toggle('open', isOpen);
    document.getElementById('content').inert = isOpen;
    button.setAttribute('aria-expanded', isOpen);
  };
  button.addEventListener('click', () => {
    setOpen(!sidebar.classList.contains('open'));
  });
  document.addEventListener('click', ({ target }) => {
    if (target.closest('a')) {
      setOpen(false);
    }
  });
  document.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape' && sidebar.classList.contains('open')) {
      setOpen(false);
      button.focus();
    }
  });
}

/** Marks the section or operation that the reader sees, in the sidebar. */
function connectSections() {
  const sidebar = document.getElementById('sidebar');
  let current;
  const mark = () => {
    // A link scrolls its section just below the header.
    const line = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) + 32;
    const links = [...sidebar.querySelectorAll(':is(.sections, .operations) a')];
    const getTop = ({ hash }) => document.getElementById(getElementId(hash))?.getBoundingClientRect().top ?? Infinity;
    const isAtEnd = scrollY > 0 && innerHeight + scrollY >= document.documentElement.scrollHeight - 1;
    // The last sections cannot reach the line.
    const linked = isAtEnd && links.find((link) => link.hash === location.hash && getTop(link) > 0);
    const found = linked || (isAtEnd ? links : links.filter((link) => getTop(link) < line)).at(-1);
    if (found === current) {
      return;
    }
    current?.removeAttribute('aria-current');
    current = found;
    if (current) {
      current.setAttribute('aria-current', 'location');
      const [{ top, bottom }, view] = [current.getBoundingClientRect(), sidebar.getBoundingClientRect()];
      sidebar.scrollTop += Math.min(0, top - view.top) || Math.max(0, bottom - view.bottom);
    }
  };
  document.addEventListener('scroll', mark, { passive: true });
  addEventListener('hashchange', mark);
  mark();
}

/** Says what happened to readers who do not see it. */
export function announce(text) {
  document.getElementById('announcement').textContent = text;
}

/** Says so when a sample of Swagger UI is copied. */
function connectCopyButtons() {
  document.addEventListener('click', ({ target }) => {
    const button = target.closest('.copy-to-clipboard');
    if (button) {
      announce('Copied');
      button.classList.add('copied');
      setTimeout(() => {
        button.classList.remove('copied');
      }, 2_000);
    }
  });
}

/** Copies a text, on origins with plain HTTP too, where browsers have no `navigator.clipboard`. */
async function copy(text) {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text);
  }
  const area = Object.assign(document.createElement('textarea'), { value: text });
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

let searchIndex;
/** Loads the search index at first use. */
function loadSearch() {
  searchIndex ??= Promise.all([
    import('./minisearch.mjs'),
    fetch(new URL('search.json', DOCS)).then((response) => response.text()),
  ]).then(([{ default: MiniSearch }, json]) => MiniSearch.loadJSON(json, INDEX_OPTIONS));
  return searchIndex;
}

function connectSearch() {
  const form = document.querySelector('.search');
  const [input, list] = [form.querySelector('input'), form.querySelector('.results')];
  const setOpen = (isOpen) => {
    list.hidden = !isOpen;
    input.setAttribute('aria-expanded', isOpen);
  };
  const select = (option) => {
    list.querySelector('[aria-selected="true"]')?.setAttribute('aria-selected', 'false');
    option?.setAttribute('aria-selected', 'true');
    option?.scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', option?.id ?? '');
  };
  const showResults = async () => {
    const query = input.value.trim();
    const index = await loadSearch();
    // The reader may have continued typing while the index loaded.
    if (query !== input.value.trim()) {
      return;
    }
    const results = query === '' ? [] : index.search(...prepareQuery(query)).slice(0, MAX_RESULTS);
    list.replaceChildren(...results.map(createOption));
    announce(query === '' ? '' : `${results.length} results`);
    if (query !== '' && results.length === 0) {
      const nothing = { role: 'option', ariaDisabled: 'true', textContent: 'Nothing found.' };
      list.append(Object.assign(document.createElement('p'), nothing));
    }
    select(list.querySelector('a'));
    setOpen(query !== '');
  };
  input.addEventListener('focus', loadSearch);
  input.addEventListener('input', showResults);
  input.addEventListener('keydown', (event) => {
    const options = [...list.querySelectorAll('a')];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && options.length > 0) {
      event.preventDefault();
      const current = options.findIndex((option) => option.getAttribute('aria-selected') === 'true');
      select(options[(current + step + options.length) % options.length]);
    }
  });
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget !== null && !form.contains(relatedTarget)) {
      setOpen(false);
    }
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (list.hidden) {
      await showResults();
    }
    list.querySelector('[aria-selected="true"]')?.click();
  });
  document.addEventListener('click', ({ target }) => {
    if (!form.contains(target) || target.closest('a') !== null) {
      setOpen(false);
    }
  });
  document.addEventListener('keydown', ({ key }) => {
    if (key === 'Escape') {
      setOpen(false);
    }
  });
}

function createOption({ page, label, title, anchor }, index) {
  const link = document.createElement('a');
  link.id = `result-${index}`;
  link.role = 'option';
  link.tabIndex = -1;
  link.href = new URL(`${page === 'index' ? '../docs' : page}${anchor && `#${anchor}`}`, DOCS);
  const [name, guideLabel] = [document.createElement('strong'), document.createElement('span')];
  name.textContent = title;
  guideLabel.textContent = label;
  link.append(name, guideLabel);
  return link;
}

completeExamples();
connectSamples();
connectSearch();
connectCopyButtons();
connectMenu();
connectSections();
