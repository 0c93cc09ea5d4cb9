import type { FastifyInstance, RouteOptions } from 'fastify';
import { isUnderV1 } from './url-check';

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

  /** The methods of the routes that match a path, for the `Allow` header. */
  methodsAt(path: string): string[] {
    return [...new Set(this.routes.filter((route) => route.path.test(path)).map(({ method }) => method))].sort();
  }

  /** The methods of all operations. */
  get methodsOfOperations(): string[] {
    return [...new Set(this.routes.filter(({ url }) => isUnderV1(url)).map(({ method }) => method))].sort();
  }

  /** Every method and path pattern, for the test that walks them. */
  all(): { readonly url: string; readonly method: string }[] {
    return this.routes;
  }
}
