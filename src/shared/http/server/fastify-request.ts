import type { Principal } from '../../domain/principal';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route is a probe of an orchestrator: a success is not logged, and no probe is traced. */
    isProbe?: boolean;
  }

  interface FastifyRequest {
    /** Who sends the request; set by the guard that authenticates. */
    principal?: Principal;
    /** What the rate limiter decided: why it refused the request, or that it did not; set by who asks it. */
    rateOutcome?: string;
    /** Of the OpenTelemetry trace that the request is part of. */
    traceId?: string;
    /** What the operation adds to the line that the log has for the request. */
    logFields?: object;
  }
}
