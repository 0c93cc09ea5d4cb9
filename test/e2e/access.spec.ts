import { RouteTable } from '../../src/shared/http/routing/route-table';
import { isPublic, OPERATIONS } from '../support/operations';
import { TestService } from '../support/service';

/** The paths of public routes that are not in the OpenAPI document. */
const PUBLIC = [
  /^\/$/,
  /^\/healthz$/,
  /^\/readyz$/,
  /^\/metrics$/,
  /^\/openapi(-v\d+)?\.(json|yaml)$/,
  /^\/docs(-yaml)?(\/|$)/,
  /^\/llms\.txt$/,
  /^\/\.well-known\/api-catalog$/,
  /^\/v1\/?$/,
];

describe('Access', () => {
  it('is closed on every route that is not marked public', async () => {
    const service = await TestService.start({ AUTH_FAILURES_PER_MINUTE: '1000000' });
    try {
      const open = OPERATIONS.filter(isPublic).map(({ method, path }) => `${method} ${path}`);
      const closed = service.app
        .get(RouteTable)
        .getRoutes()
        .map(({ url, method }) => ({ url, method, path: url.replace(/:\w+/g, '1') }))
        .filter(({ url }) => !PUBLIC.some((pattern) => pattern.test(url)))
        .filter(({ method, path }) => !open.includes(`${method === 'HEAD' ? 'GET' : method} ${path}`));
      expect(closed).toContainEqual(expect.objectContaining({ url: '/v1/pets', method: 'GET' }));
      const problems: string[] = [];
      for (const { url, method, path } of closed) {
        const { status } = await service.call(method, path);
        if (status !== 401) {
          problems.push(
            `${method} ${url} returns ${status} without a key. If it is meant to be @Public(), run \`npm run regenerate\`, ` +
              'or add its path to PUBLIC in test/e2e/access.spec.ts if it is not in openapi.json.',
          );
        }
      }
      expect(problems).toEqual([]);
    } finally {
      await service.close();
    }
  });
});
