/** The version of the service, as in package.json; a test compares them. */
export const VERSION = '1.0.0';
