import type { Principal } from '../../domain/principal';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route is an orchestrator's probe: its successes are not logged, and it is never traced. */
    isProbe?: boolean;
    /** Whether the route has every URL of a version of the API that no other route matches. */
    isCatchAll?: boolean;
  }

  interface FastifyInstance {
    /** The versions of the API: `1`, and those that handlers declare. */
    readonly apiVersions: Set<string>;
  }

  interface FastifyRequest {
    /** The principal of the request; set by the authentication guard. */
    principal?: Principal;
    /** The rate limiter's decision: the error code of a rejected request, or how it was admitted. Set by the caller of the limiter. */
    rateLimitOutcome?: string;
    /** The ID of the OpenTelemetry trace that the request belongs to. */
    traceId?: string;
    /** Fields that the operation adds to the log line of the request. */
    logFields?: object;
  }
}
