import type { components } from './openapi.js';

export { createPetStore } from './pet-store.js';
export type { Input, ListId, OperationId, Output, PetStore, PetStoreOptions } from './pet-store.js';
export { PetStoreError } from './pet-store-error.js';
export type { ClientErrorCode, ErrorCode, RateLimit } from './pet-store-error.js';

/** The types of the OpenAPI document by name: `Schemas['Pet']`. */
export type Schemas = components['schemas'];
