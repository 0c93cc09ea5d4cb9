/** The largest number of records on a page of any list. */
export const MAX_PAGE_LIMIT = 100;
