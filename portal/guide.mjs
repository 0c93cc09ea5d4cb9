/* global document, fetch, location, navigator, URL */
import { INDEX_OPTIONS } from './search.mjs';

/** The directory of the pages and assets, with a trailing slash. */
const DOCS = new URL('./', import.meta.url);
const LOCAL_ORIGIN = 'http://127.0.0.1:3000';
const MAX_RESULTS = 8;

// Redirects old links to operations, which pointed to the home page.
if (location.hash.startsWith('#/') && !document.getElementById('swagger-ui')) {
  location.replace(new URL(`reference${location.hash}`, DOCS));
}

/** Inserts the URL of this service into the examples, and adds a copy button to each. */
function completeExamples() {
  const serviceUrl = new URL('..', DOCS).href.replace(/\/$/, '');
  for (const code of document.querySelectorAll('article pre code')) {
    code.textContent = code.textContent.replaceAll(LOCAL_ORIGIN, serviceUrl);
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = 'Copied';
    });
    code.parentElement.append(button);
  }
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
  const showResults = async () => {
    const query = input.value.trim();
    const index = await loadSearch();
    // The reader may have continued typing while the index loaded.
    if (query !== input.value.trim()) {
      return;
    }
    const results = query === '' ? [] : index.search(query).slice(0, MAX_RESULTS);
    list.replaceChildren(...results.map(createResultItem));
    if (query !== '' && results.length === 0) {
      const item = document.createElement('li');
      item.textContent = 'Nothing found.';
      list.append(item);
    }
    list.hidden = query === '';
  };
  input.addEventListener('focus', loadSearch);
  input.addEventListener('input', showResults);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    await showResults();
    list.querySelector('a')?.click();
  });
  document.addEventListener('click', ({ target }) => {
    list.hidden ||= !form.contains(target) || target.closest('a') !== null;
  });
  document.addEventListener('keydown', ({ key }) => {
    list.hidden ||= key === 'Escape';
  });
}

function createResultItem({ page, label, title, anchor }) {
  const link = document.createElement('a');
  link.href = new URL(`${page === 'index' ? '../docs' : page}${anchor && `#${anchor}`}`, DOCS);
  const [name, guideLabel] = [document.createElement('strong'), document.createElement('span')];
  name.textContent = title;
  guideLabel.textContent = label;
  link.append(name, guideLabel);
  const item = document.createElement('li');
  item.append(link);
  return item;
}

completeExamples();
connectSearch();
