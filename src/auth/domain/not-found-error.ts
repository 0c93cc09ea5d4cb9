/** No account or key has the given ID; the message says which. */
export class NotFoundError extends Error {}
