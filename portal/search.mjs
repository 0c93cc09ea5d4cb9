/** The fields of the search index and the search options, shared by the build and the browser. */
export const INDEX_OPTIONS = {
  fields: ['title', 'text'],
  storeFields: ['page', 'label', 'title', 'anchor'],
  searchOptions: { boost: { title: 4 }, prefix: true, fuzzy: 0.1, combineWith: 'AND' },
};
