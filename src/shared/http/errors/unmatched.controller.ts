import { All, type CanActivate, Controller, type ExecutionContext, Injectable, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PetStoreError } from '../../domain/pet-store-error';
import { RequireScope } from '../access/require-scope.decorator';
import { createMethodNotAllowedError, RouteTable } from '../server/route-table';
import { getUrlError } from '../server/url-check';

/** Rejects every request with 404 or 405. It is a guard, because the body is read after the guards. */
@Injectable()
class UnmatchedGuard implements CanActivate {
  constructor(private readonly routes: RouteTable) {}

  canActivate(context: ExecutionContext): never {
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

/**
 * Has every URL under `/v1` that no other route matches, so that the global guards also run before 404 and 405. It belongs to the root
 * module, so its routes are registered last.
 */
@ApiExcludeController()
@Controller({ version: '1' })
@UseGuards(UnmatchedGuard)
export class UnmatchedController {
  @All(['/', '*'])
  @RequireScope('read')
  reject(): void {
    // The guard has thrown an error.
  }
}
