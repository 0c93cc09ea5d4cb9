import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Principal } from '../../domain/principal';

/** Who sends a request, as the guard that authenticates has found out. */
export function principalOf({ principal }: FastifyRequest): Principal {
  if (principal === undefined) {
    throw new Error('Nobody was authenticated: put a guard that does before what needs to know whose request it is.');
  }
  return principal;
}

/** The id of the account that sends the request, as a parameter of a handler. */
export const AccountId = createParamDecorator(
  (_: unknown, context: ExecutionContext): bigint =>
    principalOf(context.switchToHttp().getRequest<FastifyRequest>()).accountId,
);
