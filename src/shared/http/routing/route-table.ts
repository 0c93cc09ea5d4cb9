import type { FastifyInstance, FastifyReply, RouteOptions } from 'fastify';
import { PetStoreError } from '../../domain/pet-store-error';

const ALTERNATIVES = new Intl.ListFormat('en', { type: 'disjunction' });

/** The methods of each path; Fastify's router only knows whether one given method of a path exists. */
export class RouteTable {
  private readonly routes: { readonly url: string; readonly path: RegExp; readonly method: string }[] = [];

  /** Records every route that is registered after this call. */
  registerHooks(fastify: FastifyInstance): void {
    fastify.addHook('onRoute', ({ url, method }: RouteOptions) => {
      // Neither the catch-all route, which accepts every method, nor the preflight route of CORS is an operation.
      if (typeof method === 'string' && url !== '*') {
        const pattern = url
          .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
          .replace(/(?<!:):[^/:]+/g, '[^/]+')
          // A colon that begins no parameter.
          .replaceAll('::', ':')
          .replace('*', '.*');
        this.routes.push({ url, method, path: new RegExp(`^${pattern}$`) });
      }
    });
  }

  /** Returns the error of a request whose path has routes, but none for its method, and sets `Allow`; undefined for any other. */
  rejectMethod(reply: FastifyReply): PetStoreError | undefined {
    const { url, method } = reply.request;
    const [path = ''] = url.split('?', 1);
    const allowed = getDistinctMethods(this.routes.filter((route) => route.path.test(path)));
    // If its method is one of them, another part of the request does not match.
    if (allowed.length === 0 || allowed.includes(method)) {
      return undefined;
    }
    reply.header('allow', allowed.join(', '));
    return createMethodNotAllowedError(method, allowed);
  }

  /** The methods of all routes. */
  getMethods(): string[] {
    return getDistinctMethods(this.routes);
  }

  /** All methods and path patterns, for the test that checks every route. */
  getRoutes(): { readonly url: string; readonly method: string }[] {
    return this.routes;
  }
}

function getDistinctMethods(routes: readonly { readonly method: string }[]): string[] {
  return [...new Set(routes.map(({ method }) => method))].sort();
}

/** The error of a request whose path has routes, but none for its method. */
export function createMethodNotAllowedError(method: string, allowed: readonly string[]): PetStoreError {
  return new PetStoreError('method_not_allowed', `${method} is not allowed here. Use ${ALTERNATIVES.format(allowed)}.`);
}
