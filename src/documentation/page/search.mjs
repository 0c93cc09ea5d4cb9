/** What the search index holds of each section, and how it is searched; the build and the browser must agree. */
export const FIELDS = {
  fields: ['title', 'text'],
  storeFields: ['page', 'label', 'title', 'anchor'],
  searchOptions: { boost: { title: 4 }, prefix: true, fuzzy: 0.1, combineWith: 'AND' },
};
