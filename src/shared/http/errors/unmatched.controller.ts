import { All, Controller, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PetStoreError } from '../../domain/pet-store-error';
import { RequireScope } from '../access/require-scope.decorator';
import { createMethodNotAllowedError, RouteTable } from '../server/route-table';
import { getUrlError } from '../server/url-check';

/**
 * Handles every request under `/v1` that no other route matches, so that the guards also run before 404 and 405. It belongs to the
 * root module, so its routes are registered last.
 */
@ApiExcludeController()
@Controller({ version: '1' })
export class UnmatchedController {
  constructor(private readonly routes: RouteTable) {}

  @All(['/', '*'])
  @RequireScope('read')
  reject(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): never {
    const error = getUrlError(request.raw);
    if (error !== undefined) {
      throw error;
    }
    const allowed = this.routes.findMethods(request.url);
    if (allowed.length > 0) {
      reply.header('allow', allowed.join(', '));
      throw createMethodNotAllowedError(request.method, allowed);
    }
    throw new PetStoreError('route_not_found');
  }
}
