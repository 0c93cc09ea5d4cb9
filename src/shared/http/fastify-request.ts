import type { Principal } from '../domain/principal';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sends the request; set by the guard that authenticates. */
    principal?: Principal;
  }
}
