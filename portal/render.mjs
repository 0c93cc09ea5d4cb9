import { Buffer } from 'node:buffer';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath, URL } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import MarkdownIt from 'markdown-it';
import MiniSearch from 'minisearch';
import { GUIDES } from './guides.mjs';
import { escapeHtml, listOperations, renderOperationLinks, renderOperationTable } from './operations.mjs';
import { LANGUAGES } from './samples.mjs';
import { INDEX_OPTIONS } from './search.mjs';

const PORTAL = dirname(fileURLToPath(import.meta.url));
const ROOT = join(PORTAL, '..');
const require = createRequire(import.meta.url);
const openApi = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8'));
const { version } = require('swagger-ui-dist/package.json');

const REFERENCE = { name: 'reference', label: 'API reference' };

const LOCAL_ORIGIN = 'http://127.0.0.1:3000';
/** What the service replaces with its settings when it serves a page. */
const [ORIGIN, REPOSITORY] = ['{{origin}}', '{{repository}}'];
/** Pages are compressed when they are served. */
const COMPRESSED_EXTENSIONS = new Set(['css', 'mjs', 'js', 'json']);

const COLLECTION = 'petstore.postman_collection.json';
const ASSETS = [
  ...['site.css', 'guide.css', 'reference.css', 'theme.mjs'],
  ...['guide.mjs', 'search.mjs', 'reference.mjs', 'operations.mjs', 'samples.mjs', 'key.mjs', 'key-dialog.mjs'],
];

/** The home page is at `/docs`; its assets and the other pages are one level below. Links are relative, because a gateway may add a path prefix. */
const getPrefix = ({ name }) => (name === 'index' ? 'docs/' : '');
const getRootPath = ({ name }) => (name === 'index' ? '' : '../');
const createLink = (page, { name }) => (name === 'index' ? `${getRootPath(page)}docs` : `${getPrefix(page)}${name}`);

const markdown = new MarkdownIt({ linkify: false });
const { rules } = markdown.renderer;
rules.fence = (tokens, index) => {
  const { content, info } = tokens[index];
  if (content.startsWith('curl ')) {
    return renderSamples(content, index);
  }
  const isResponse = content.startsWith('HTTP/');
  return `${isResponse ? '<p class="caption">Response</p>' : ''}${renderListing(content, isResponse ? 'http' : info)}`;
};
rules.table_open = () => '<div class="table" tabindex="0"><table>\n';
rules.table_close = () => '</table></div>\n';
for (const cell of ['th', 'td']) {
  // Markdown-it aligns cells with inline styles, which the Content-Security-Policy blocks.
  rules[`${cell}_open`] = () => `<${cell}>`;
}
rules.heading_open = (tokens, index) => `<${tokens[index].tag} id="${escapeHtml(tokens[index].meta.anchor)}">`;
rules.heading_close = (tokens, index) => {
  const { anchor } = tokens[index].meta;
  return ` <a class="anchor" href="#${escapeHtml(anchor)}" aria-label="Link to this section">#</a></${tokens[index].tag}>\n`;
};

const renderListing = (code, language) =>
  `<div class="listing"><pre tabindex="0"><code>${highlight(code, language)}</code></pre></div>\n`;

/** Renders a curl command, and the same request in the languages of the reference page. */
function renderSamples(command, index) {
  const request = parseCurl(command.replaceAll(ORIGIN, LOCAL_ORIGIN));
  const tabs = LANGUAGES.map(
    ({ id, name }) =>
      `<label><input type="radio" name="samples-${index}" value="${id}"${id === 'sh' ? ' checked' : ''}>${name}</label>`,
  );
  const listings = LANGUAGES.map(({ id, format }) =>
    renderListing(id === 'sh' ? command : format(request, openApi).replaceAll(LOCAL_ORIGIN, ORIGIN), id),
  );
  return `<fieldset class="samples"><legend>Language</legend>${tabs.join('')}${listings.join('')}</fieldset>\n`;
}

/** Reads a curl command. */
function parseCurl(command) {
  const [, ...words] = [...command.matchAll(/'([^']*)'|"([^"]*)"|[^\s\\]+/g)].map(
    ([word, single, double]) => single ?? double ?? word,
  );
  const fields = { method: 'GET', headers: {} };
  while (words.length > 0) {
    const word = words.shift();
    if (word === '-H') {
      const [, name, value] = /^([\w-]+): (.*)$/.exec(words.shift());
      fields.headers[name] = value;
    } else if (word === '-d') {
      Object.assign(fields, { method: 'POST', body: words.shift() });
    } else if (word !== '-i') {
      fields.url = word;
    }
  }
  return fields;
}

const PROGRAM_KEYWORDS =
  '\\b(?:import|from|export|const|let|await|async|for|of|if|throw|try|catch|new|return|with|as|except)(?=\\s|\\()';
/** Patterns of keywords; in HTTP messages, the names of headers. */
const KEYWORDS = {
  ...{ ts: PROGRAM_KEYWORDS, js: PROGRAM_KEYWORDS, json: PROGRAM_KEYWORDS, python: PROGRAM_KEYWORDS },
  sh: '\\b(?:curl|npm|npx|node|pip)(?=\\s|\\()',
  http: '^[\\w-]+(?=: )',
};

/** Colors strings, comments and keywords, which is enough for the short examples of the guides. */
function highlight(code, language) {
  const keywords = KEYWORDS[language];
  if (keywords === undefined) {
    return escapeHtml(code);
  }
  const tokens = new RegExp(`("(?:\\\\.|[^"\\\\])*"|'[^']*')|(^\\s*(?:#|//).*$)|(${keywords})`, 'gm');
  let html = '';
  let end = 0;
  for (const { 0: token, 1: string, 2: comment, index } of code.matchAll(tokens)) {
    const kind = string ? 'string' : comment ? 'comment' : 'keyword';
    html += `${escapeHtml(code.slice(end, index))}<span class="${kind}">${escapeHtml(token)}</span>`;
    end = index + token.length;
  }
  return html + escapeHtml(code.slice(end));
}

/** Creates the anchor of a heading: the error code, or else the same anchor as on GitHub. */
function createAnchor(title, taken) {
  const [, code] = /^(\w+) \(\d{3}\)$/.exec(title) ?? [];
  const base = code ?? slugify(title);
  const count = taken.get(base) ?? 0;
  taken.set(base, count + 1);
  return count === 0 ? base : `${base}-${count}`;
}

function slugify(title) {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

/** Resolves a link in a guide to another guide, or to the file in the repository. */
function resolveLink(guide, href) {
  if (href.startsWith('reference')) {
    return `${getPrefix(guide)}${href}`;
  }
  if (/^([a-z]+:|#)/i.test(href)) {
    return href;
  }
  const [path, fragment] = href.split('#', 2);
  const hash = fragment === undefined ? '' : `#${fragment}`;
  const file = posix.join(dirname(guide.source), path);
  const target = GUIDES.find(({ source }) => source === file);
  if (posix.basename(file) === COLLECTION) {
    return `${getPrefix(guide)}${COLLECTION}`;
  }
  if (file === 'openapi.json') {
    return `${getRootPath(guide)}openapi.json`;
  }
  if (target === undefined) {
    return `${REPOSITORY}/blob/main/${file}${hash}`;
  }
  return `${createLink(guide, target)}${hash}`;
}

/** Prepares a guide's Markdown for programs: its links are absolute. */
function renderMarkdown(guide) {
  return readText(guide).replace(/\]\((?!https?:|#|\{)([^)#]+)(#[^)]*)?\)/g, (link, path, hash = '') => {
    const target = GUIDES.find(({ source }) => source === posix.join(dirname(guide.source), path));
    const href = target
      ? `${ORIGIN}/docs/${target.name}.md`
      : new URL(resolveLink(guide, path), `${LOCAL_ORIGIN}/docs/`).href.replace(LOCAL_ORIGIN, ORIGIN);
    return `](${path === 'reference' ? `${ORIGIN}/docs/reference` : href}${hash})`;
  });
}

/** Comments name the source file of a listing for a test. */
function readText({ source }) {
  return readFileSync(join(ROOT, source), 'utf8')
    .replace(/^<!-- for operators -->\n+###[^]*?(?=^##)/gm, '')
    .replace(/^<!--.*-->\n/gm, '')
    .replaceAll(`](${LOCAL_ORIGIN}/docs/reference`, '](reference')
    .replaceAll(LOCAL_ORIGIN, ORIGIN);
}

/** Reads a guide: its tokens with resolved anchors and links, and its sections for the search index. */
function readGuide(guide) {
  const text = readText(guide);
  const tokens = markdown.parse(text, {});
  const taken = new Map();
  const sections = [];
  tokens.forEach((token, index) => {
    if (token.type === 'heading_open') {
      const title = getPlainText(tokens[index + 1]);
      const meta = { anchor: createAnchor(title, taken) };
      token.meta = meta;
      tokens[index + 2].meta = meta;
      sections.push({ title, level: Number(token.tag.slice(1)), anchor: meta.anchor, text: [] });
    } else if (token.type === 'inline' && tokens[index - 1].type !== 'heading_open') {
      sections.at(-1)?.text.push(getPlainText(token));
    } else if (token.type === 'fence') {
      sections.at(-1)?.text.push(token.content);
    }
    for (const child of token.children ?? []) {
      if (child.type === 'link_open') {
        child.attrSet('href', resolveLink(guide, child.attrGet('href')));
      }
    }
  });
  return { ...guide, html: markdown.renderer.render(tokens, markdown.options, {}), sections };
}

function getPlainText({ children }) {
  return children
    .filter(({ type }) => ['text', 'code_inline', 'softbreak'].includes(type))
    .map(({ type, content }) => (type === 'softbreak' ? ' ' : content))
    .join('');
}

/** Renders the links to all pages, and below the current page its sections. */
function renderNavigation(page) {
  const item = ({ name, label }) => {
    const isCurrent = name === page.name;
    const link = `<a href="${createLink(page, { name })}"${isCurrent ? ' aria-current="page"' : ''}>${label}</a>`;
    return `<li>${link}${isCurrent ? renderContents(page) : ''}</li>`;
  };
  return [...GUIDES.slice(0, 1), REFERENCE, ...GUIDES.slice(1)].map(item).join('\n    ');
}

function renderContents({ name, sections }) {
  if (name === REFERENCE.name) {
    return `<div class="operations">${renderOperationLinks(openApi)}</div>`;
  }
  const renderList = (level, list) => {
    const items = list.flatMap(({ level: other, anchor, title }, index) => {
      if (other !== level) {
        return [];
      }
      const end = list.findIndex((section, position) => position > index && section.level <= level);
      const below = list.slice(index + 1, end === -1 ? undefined : end);
      return `<li><a href="#${escapeHtml(anchor)}">${escapeHtml(title)}</a>${renderList(level + 1, below)}</li>`;
    });
    return items.length === 0 ? '' : `<ul>${items.join('')}</ul>`;
  };
  return `<div class="sections">${renderList(2, sections)}</div>`;
}

/** Renders the links to the previous and the next guide. */
function renderNeighbours(page) {
  const index = GUIDES.findIndex(({ name }) => name === page.name);
  const renderLink = (guide, rel, format) =>
    guide === undefined
      ? '<span></span>'
      : `<a rel="${rel}" href="${createLink(page, guide)}">${format(guide.label)}</a>`;
  return `<nav class="neighbours" aria-label="Previous and next page">${renderLink(GUIDES[index - 1], 'prev', (label) => `← ${label}`)}${renderLink(GUIDES[index + 1], 'next', (label) => `${label} →`)}</nav>`;
}

/** Fills a template of a page, and the header that all pages have. */
function renderPage(template, page, values) {
  const header = fillTemplate(readSource('header.html'), {
    home: createLink(page, GUIDES[0]),
    navigation: renderNavigation(page),
  });
  return fillTemplate(readSource(template), { prefix: getPrefix(page), header, version, ...values });
}

function fillTemplate(template, values) {
  return template.replace(/\{(\w+)\}/g, (placeholder, name) => values[name] ?? placeholder);
}

function readSource(name) {
  return readFileSync(join(PORTAL, name), 'utf8');
}

/** Writes a file, uncompressed and compressed. */
function writeAsset(file, content) {
  const body = Buffer.from(content);
  writeFileSync(file, body);
  if (COMPRESSED_EXTENSIONS.has(file.split('.').at(-1))) {
    writeFileSync(`${file}.gz`, gzipSync(body, { level: 9 }));
    // The highest quality takes seconds for Swagger UI and makes it only 3% smaller.
    const quality = body.length > 500_000 ? 9 : 11;
    writeFileSync(`${file}.br`, brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }));
  }
}

function renderNotFound() {
  const page = { name: 'not-found' };
  const links = `<a href="${ORIGIN}/docs">home page</a>, or open the <a href="${ORIGIN}/docs/reference">API reference</a>`;
  const html = renderPage('guide.html', page, {
    title: 'Page not found',
    body: `<h1>Page not found</h1><p>There is no page at this URL. Go to the ${links}.</p>`,
    neighbours: '',
  });
  // The URL may be deeper, so its links start at the root.
  return html.replace(
    /(href|src)="(?!\{\{|#|https?:)(\.\.\/)?([^"]*)"/g,
    (_, attribute, up, path) => `${attribute}="${ORIGIN}${up ? '' : '/docs'}/${path}"`,
  );
}

/** The guides as Markdown, for programs that read the documentation (llmstxt.org). */
function renderIndexForPrograms(guides) {
  const lines = guides.map(({ name, sections }) => `- [${sections[0].title}](${ORIGIN}/docs/${name}.md)`);
  const documents = `- [OpenAPI document](${ORIGIN}/openapi.json): every operation, field and error`;
  return `# ${openApi.info.title}\n\n> ${openApi.info.description.split('\n')[0]}\n\n## Guides\n\n${lines.join('\n')}\n\n## Reference\n\n${documents}\n`;
}

function createSearchIndex(guides) {
  const index = new MiniSearch(INDEX_OPTIONS);
  index.addAll(
    guides.flatMap(({ name, label, sections }) =>
      sections.map(({ title, anchor, text }, position) => ({
        id: `${name}#${anchor}`,
        page: name,
        label,
        title,
        anchor: position === 0 ? '' : anchor,
        text: text.join(' '),
      })),
    ),
  );
  index.addAll(
    listOperations(openApi).map(
      ({ anchor, method, path, operationId, summary, description, deprecated, parameters = [], requestBody }) => ({
        id: anchor,
        page: REFERENCE.name,
        deprecated,
        label: REFERENCE.label,
        title: `${method} ${path} ${operationId}`,
        anchor,
        text: [summary, description, ...parameters.map(getFieldName), ...listBodyFields(requestBody)].join(' '),
      }),
    ),
  );
  return index;
}

const getFieldName = ({ name, $ref = '' }) => name ?? $ref.split('/').at(-1);

function listBodyFields(requestBody) {
  const { schema } = requestBody?.content['application/json'] ?? {};
  const { properties = {} } = openApi.components.schemas[schema?.$ref?.split('/').at(-1)] ?? schema ?? {};
  return Object.keys(properties);
}

/**
 * Renders the documentation into a new directory: the guides, the search index, Swagger UI and the assets of the pages, each
 * uncompressed and compressed.
 */
export function renderSite(directory) {
  mkdirSync(directory);
  const write = (name, content) => {
    writeAsset(join(directory, name), content);
  };
  const guides = GUIDES.map(readGuide);
  for (const guide of guides) {
    const [{ title }] = guide.sections;
    write(
      `${guide.name}.html`,
      renderPage('guide.html', guide, {
        title: escapeHtml(title),
        body: guide.html,
        neighbours: renderNeighbours(guide),
      }),
    );
  }
  write('not-found.html', renderNotFound());
  guides.forEach((guide) => {
    write(`${guide.name}.md`, renderMarkdown(guide));
  });
  write('llms.txt', renderIndexForPrograms(guides));
  const collection = readFileSync(join(ROOT, 'clients/postman', COLLECTION), 'utf8');
  write(COLLECTION, collection.replaceAll(new URL(openApi.servers[0].url).origin, ORIGIN));
  write('reference.html', renderPage('reference.html', REFERENCE, { table: renderOperationTable(openApi) }));
  ASSETS.forEach((name) => {
    write(name, readSource(name));
  });
  write('search.json', JSON.stringify(createSearchIndex(guides)));
  write('minisearch.mjs', readFileSync(fileURLToPath(import.meta.resolve('minisearch'))));
  const swaggerUi = dirname(require.resolve('swagger-ui-dist/package.json'));
  for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png']) {
    write(name, readFileSync(join(swaggerUi, name)));
  }
}
