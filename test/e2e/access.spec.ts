import { RouteTable } from '../../src/shared/http/routing/route-table';
import { TestService } from '../support/service';

/** The public routes. All others must reject requests without a key. */
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
      const closed = service.app
        .get(RouteTable)
        .getRoutes()
        .filter(({ url }) => !PUBLIC.some((pattern) => pattern.test(url)));
      expect(closed).toContainEqual(expect.objectContaining({ url: '/v1/pets', method: 'GET' }));
      for (const { url, method } of closed) {
        const response = await service.call(method, url.replace(/:\w+/g, '1'));
        expect([method, url, response.status]).toEqual([method, url, 401]);
      }
    } finally {
      await service.close();
    }
  });
});
