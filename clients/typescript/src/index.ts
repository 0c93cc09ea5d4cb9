import type { components } from './openapi.js';

export type { RateLimit } from './headers.js';
export { stringify } from './json.js';
export { createPetStore } from './pet-store.js';
export type { Input, ListId, OperationId, Output, PetStore, PetStoreOptions, Result } from './pet-store.js';
export { PetStoreError } from './pet-store-error.js';
export type { ClientErrorCode, ErrorCode } from './pet-store-error.js';

/** The types of the OpenAPI document by name: `Schemas['Pet']`. */
export type Schemas = components['schemas'];
