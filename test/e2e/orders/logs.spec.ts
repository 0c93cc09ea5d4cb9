import { IDENTIFIER } from '../../../src/config/brand';
import { TestService } from '../../support/service';
import { Customer } from './support';

describe('The log', () => {
  it('contains the ID of the order that a request placed', async () => {
    const lines: string[] = [];
    const service = await TestService.start(
      { APP_ENV: 'production', DRAIN_SECONDS: '0', LOG_LEVEL: 'info' },
      { write: (line) => lines.push(line) },
    );
    const { id } = await (await Customer.create(service)).placeOne();
    await service.close();
    const requests = lines.map((line) => JSON.parse(line) as { 'http.route'?: string });
    expect(requests.filter((line) => line['http.route'] === '/v1/store/orders')).toMatchObject([
      { 'http.response.status_code': 201, [IDENTIFIER]: { orderId: id } },
    ]);
  });
});
