import type { FastifyInstance, RouteOptions } from 'fastify';
import { PetStoreError } from '../../domain/pet-store-error';
import type { ErrorCatalog } from '../errors/error-catalog';
import type { ErrorHelp } from '../errors/error-help';

/** The methods that each path answers to; the HTTP layer's router only knows whether one method of a path does. */
export class RouteTable {
  private readonly routes: { readonly url: string; readonly path: RegExp; readonly method: string }[] = [];

  /** Takes note of every route that is registered from now on. */
  observe(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', ({ url, method }: RouteOptions) => {
      // Neither the catch-all, which takes every method, nor the preflight route of CORS stands for an operation.
      if (typeof method === 'string' && url !== '*') {
        this.routes.push({ url, method, path: new RegExp(`^${url.replace(/:[^/]+/g, '[^/]+').replace('*', '.*')}$`) });
      }
    });
  }

  /** The methods of the routes that match the path of a URL, for the `Allow` header. */
  methodsAt(url: string): string[] {
    const [path = ''] = url.split('?', 1);
    return distinctMethods(this.routes.filter((route) => route.path.test(path)));
  }

  /** The methods of all routes. */
  methods(): string[] {
    return distinctMethods(this.routes);
  }

  /** Every method and path pattern, for the test that walks them. */
  all(): { readonly url: string; readonly method: string }[] {
    return this.routes;
  }
}

function distinctMethods(routes: readonly { readonly method: string }[]): string[] {
  return [...new Set(routes.map(({ method }) => method))].sort();
}

/** Responds with 405 to a request outside of `/v1` whose path has a route, but not for its method. */
export function rejectOtherMethods(
  fastify: FastifyInstance,
  routes: RouteTable,
  catalog: ErrorCatalog,
  help: ErrorHelp,
): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    const allowed = request.is404 ? routes.methodsAt(request.url) : [];
    if (allowed.length === 0) {
      done();
      return;
    }
    const error = catalog.toResponse(methodNotAllowed(request.method, allowed));
    void reply
      .status(error.status)
      .headers({ allow: allowed.join(', '), ...help.headers(error.code) })
      .send(error);
  });
}

/** The error of a request whose path has a route, but not for its method. */
export function methodNotAllowed(method: string, allowed: readonly string[]): PetStoreError {
  return new PetStoreError('method_not_allowed', `${method} is not allowed here. Use ${allowed.join(' or ')}.`);
}
