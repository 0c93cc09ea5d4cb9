/** The fields of the search index and the search options, shared by the build and the browser. */
export const INDEX_OPTIONS = {
  fields: ['title', 'text'],
  storeFields: ['page', 'label', 'title', 'anchor', 'deprecated'],
  // "retry" finds "retries".
  processTerm: (term) =>
    term
      .toLowerCase()
      .replace(/(?<=\w{3})(?:ies|y)$/, 'i')
      .replace(/(?<=\w{3})s$/, ''),
  searchOptions: {
    boost: { title: 4 },
    prefix: true,
    fuzzy: 0.1,
    combineWith: 'AND',
    boostDocument: (_id, _term, { deprecated }) => (deprecated ? 0.5 : 1),
  },
};

/** Returns the arguments for a search. Paths find operations first, with the version or without. */
export function prepareQuery(query) {
  if (!query.includes('/')) {
    return [query];
  }
  const boostDocument = (_id, _term, { page, deprecated }) => (page !== 'reference' ? 1 : deprecated ? 2 : 4);
  return [query.replace(/\/v\d+(?=\/)/, ''), { boostDocument }];
}
