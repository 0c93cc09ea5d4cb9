import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Principal } from '../../domain/principal';

/** The principal of a request, as set by the authentication guard. */
export function requirePrincipal({ principal }: FastifyRequest): Principal {
  if (principal === undefined) {
    throw new Error('The request has no principal. Put an authentication guard before the code that needs one.');
  }
  return principal;
}

/** Injects the ID of the principal's account as a parameter of a handler. */
export const AccountId = createParamDecorator(
  (_: unknown, context: ExecutionContext): bigint =>
    requirePrincipal(context.switchToHttp().getRequest<FastifyRequest>()).accountId,
);
