/** No account or key has the given id; the message says which. */
export class NotFoundError extends Error {}
