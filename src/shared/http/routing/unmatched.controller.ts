import { All, type CanActivate, Controller, type ExecutionContext, Injectable } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PetStoreError } from '../../domain/pet-store-error';
import { createMethodNotAllowedError, RouteTable } from './route-table';
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
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const error = getUrlError(request.raw);
    if (error !== undefined) {
      throw error;
    }
    const allowed = this.routes.findAllowedMethods(request);
    if (allowed.length > 0) {
      http.getResponse<FastifyReply>().header('allow', allowed.join(', '));
      throw createMethodNotAllowedError(request.method, allowed);
    }
    throw new PetStoreError('route_not_found');
  }
}
