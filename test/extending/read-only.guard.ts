import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { PetStoreError } from '../../src/shared/domain/pet-store-error';

/** Admits only requests that change nothing. */
@Injectable()
export class ReadOnlyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { method } = context.switchToHttp().getRequest<FastifyRequest>();
    if (!['GET', 'HEAD'].includes(method)) {
      throw new PetStoreError('service_unavailable', 'The store is read-only for now.');
    }
    return true;
  }
}
