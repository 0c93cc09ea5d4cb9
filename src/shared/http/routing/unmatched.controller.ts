import { All, type CanActivate, Controller, type ExecutionContext, Injectable } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { PetStoreError } from '../../domain/pet-store-error';
import { RouteTable } from './route-table';
import { getUrlError } from '../access/url-check';

/**
 * Has every URL under `/v1` that no other route matches, so that the global guards also run before 404 and 405. It belongs to the root
 * module, so its routes are registered last. `openApiVersions` copies them for other versions.
 */
@ApiExcludeController()
@Controller({ version: '1' })
export class UnmatchedController {
  @All(['/', '*'])
  @RouteConfig({ isCatchAll: true })
  reject(): void {
    // UnmatchedGuard has thrown an error.
  }
}

/** Rejects every request of `UnmatchedController` with 404 or 405. It is a global guard, because the body is read after these. */
@Injectable()
export class UnmatchedGuard implements CanActivate {
  constructor(private readonly routes: RouteTable) {}

  canActivate(context: ExecutionContext): boolean {
    if (context.getClass() !== UnmatchedController) {
      return true;
    }
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    throw getUrlError(reply.request.raw) ?? this.routes.rejectMethod(reply) ?? new PetStoreError('route_not_found');
  }
}
