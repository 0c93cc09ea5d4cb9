export { serveDocumentation } from './documentation';
export { createOpenApiDocument } from './openapi';
