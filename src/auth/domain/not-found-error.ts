/** No account, or no key, has the id; the message says which. */
export class NotFoundError extends Error {}
