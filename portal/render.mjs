import { Buffer } from 'node:buffer';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import MarkdownIt from 'markdown-it';
import MiniSearch from 'minisearch';
import { GUIDES } from './guides.mjs';
import { INDEX_OPTIONS } from './search.mjs';

const PORTAL = dirname(fileURLToPath(import.meta.url));
const ROOT = join(PORTAL, '..');
const require = createRequire(import.meta.url);
const { repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const { version } = require('swagger-ui-dist/package.json');

const REFERENCE = { name: 'reference', label: 'API reference' };

const LOCAL_ORIGIN = 'http://127.0.0.1:3000';
const COMPRESSED_EXTENSIONS = new Set(['html', 'css', 'mjs', 'js', 'json']);

/** The home page is at `/docs`; its assets and the other pages are one level below. Links are relative, because a gateway may add a path prefix. */
const getPrefix = ({ name }) => (name === 'index' ? 'docs/' : '');
const getRootPath = ({ name }) => (name === 'index' ? '' : '../');
const createLink = (page, { name }) => (name === 'index' ? `${getRootPath(page)}docs` : `${getPrefix(page)}${name}`);
const escapeHtml = (text) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

const markdown = new MarkdownIt({ linkify: false });
const { rules } = markdown.renderer;
rules.table_open = () => '<div class="table"><table>\n';
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
  if (href === `${LOCAL_ORIGIN}/docs/reference`) {
    return `${getPrefix(guide)}reference`;
  }
  if (/^([a-z]+:|#)/i.test(href)) {
    return href;
  }
  const [path, fragment] = href.split('#', 2);
  const hash = fragment === undefined ? '' : `#${fragment}`;
  const file = posix.join(dirname(guide.source), path);
  const target = GUIDES.find(({ source }) => source === file);
  if (file === 'openapi.json') {
    return `${getRootPath(guide)}openapi.json`;
  }
  if (target === undefined) {
    return `${repository.url}/blob/main/${file}${hash}`;
  }
  return `${createLink(guide, target)}${hash}`;
}

/** Reads a guide: its tokens with resolved anchors and links, and its sections for the search index. */
function readGuide(guide) {
  // Comments name the source file of a listing for a test.
  const text = readFileSync(join(ROOT, guide.source), 'utf8').replace(/^<!--.*-->\n/gm, '');
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

function renderNavigation(page) {
  const item = ({ name, label }) => {
    const current = name === page.name ? ' aria-current="page"' : '';
    return `<li><a href="${createLink(page, { name })}"${current}>${label}</a></li>`;
  };
  return [...GUIDES.slice(0, 1), REFERENCE, ...GUIDES.slice(1)].map(item).join('\n        ');
}

function renderContents({ sections }) {
  const items = sections.filter(({ level }) => level === 2);
  const links = items.map(({ anchor, title }) => `<li><a href="#${escapeHtml(anchor)}">${escapeHtml(title)}</a></li>`);
  return links.length < 2 ? '' : `<nav class="contents" aria-label="On this page"><ul>${links.join('')}</ul></nav>`;
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
  return index;
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
      renderPage('guide.html', guide, { title: escapeHtml(title), contents: renderContents(guide), body: guide.html }),
    );
  }
  write('reference.html', renderPage('reference.html', REFERENCE, {}));
  ['guide.css', 'guide.mjs', 'search.mjs', 'reference.css', 'reference.mjs'].forEach((name) => {
    write(name, readSource(name));
  });
  write('search.json', JSON.stringify(createSearchIndex(guides)));
  write('minisearch.mjs', readFileSync(fileURLToPath(import.meta.resolve('minisearch'))));
  const swaggerUi = dirname(require.resolve('swagger-ui-dist/package.json'));
  for (const name of ['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png']) {
    write(name, readFileSync(join(swaggerUi, name)));
  }
}
