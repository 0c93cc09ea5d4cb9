import { Controller, Get } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { SharedItems } from '../../domain/page';
import { createHttpAdapter } from './http-adapter';

describe('Replies with items that requests share', () => {
  const create = jest.fn(() => [{ id: 2n ** 63n - 1n }]);
  const shared = new SharedItems(create);

  @Controller()
  class ListController {
    @Get('list')
    list(): Promise<object[]> {
      return Promise.resolve(shared.toArray());
    }

    @Get('changed')
    change(): object[] {
      const items = shared.toArray();
      items.pop();
      return items;
    }
  }

  it('have JSON that is written once, unless somebody looked at the items', async () => {
    const module = await Test.createTestingModule({ controllers: [ListController] }).compile();
    const app = module.createNestApplication<NestFastifyApplication>(createHttpAdapter({ trustProxy: false }));
    await app.init();
    for (const [url, body, creations] of [
      ['/list', '[{"id":9223372036854775807}]', 1],
      ['/list', '[{"id":9223372036854775807}]', 1],
      ['/changed', '[]', 2],
      ['/list', '[{"id":9223372036854775807}]', 2],
    ] as const) {
      expect((await app.inject(url)).body).toBe(body);
      expect(create).toHaveBeenCalledTimes(creations);
    }
    await app.close();
  });
});
