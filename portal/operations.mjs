const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

export const escapeHtml = (text) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

const formatCode = (html) => html.replace(/`([^`]+)`/g, '<code>$1</code>');

/** Lists the operations of an OpenAPI document in the order of its tags. The anchors are Swagger UI's deep links. */
export function listOperations({ paths, tags = [] }) {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => method in item).map((method) => {
      const operation = item[method];
      const [tag = 'default'] = operation.tags ?? [];
      const anchor = `/${tag.replace(/\s/g, '%20')}/${operation.operationId}`;
      return { ...operation, path, method: method.toUpperCase(), tag, anchor };
    }),
  );
  const names = [...new Set([...tags.map(({ name }) => name), ...operations.map(({ tag }) => tag)])];
  return names.flatMap((name) => operations.filter(({ tag }) => tag === name));
}

/** Returns the parts of a link to an operation, such as `#/pets/listPets`, or to a group of them; none for other links. */
export function parseLink(hash) {
  try {
    return hash.startsWith('#/') ? decodeURIComponent(hash).slice(2).split('/') : [];
  } catch {
    return [];
  }
}

/** Returns the ID of the element to which a link within the page points. */
export function getElementId(hash) {
  const parts = parseLink(hash);
  return parts.length > 0 ? `operations-${parts.join('-').replace(/\s/g, '_')}` : hash.slice(1);
}

/** Renders the links to the operations, by tag. */
export function renderOperationLinks(document) {
  const operations = listOperations(document);
  const renderLink = ({ anchor, method, path, summary, deprecated }) =>
    `<li><a href="#${escapeHtml(anchor)}" title="${method} ${escapeHtml(path)}"${deprecated ? ' class="deprecated"' : ''}>` +
    `<span class="method ${method.toLowerCase()}">${method}</span> ${escapeHtml(summary ?? path)}</a></li>`;
  return [...new Set(operations.map(({ tag }) => tag))]
    .map((name) => {
      const links = operations.filter(({ tag }) => tag === name).map(renderLink);
      return `<h2>${escapeHtml(name)}</h2><ul>${links.join('')}</ul>`;
    })
    .join('');
}

/** Renders what is shown until Swagger UI has loaded, and without JavaScript. */
export function renderOperationTable(document) {
  const rows = listOperations(document).map(
    ({ anchor, method, path, summary = '', description = '' }) =>
      `<tr id="${escapeHtml(anchor)}"><td><code>${method} ${escapeHtml(path)}</code></td>` +
      `<td><strong>${escapeHtml(summary)}</strong> ${formatCode(escapeHtml(description))}</td></tr>`,
  );
  return `<table><thead><tr><th>Operation</th><th>Description</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}
