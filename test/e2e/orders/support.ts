import { type TestResponse, TestService } from '../../support/service';

export interface Order {
  readonly id: number;
  readonly petId: number;
  readonly status: string;
  readonly shipDate?: string;
}

/** An account that uses the store, with its API key. */
export class Customer {
  private constructor(
    private readonly service: TestService,
    readonly key: string,
  ) {}

  static async create(service: TestService): Promise<Customer> {
    return new Customer(service, await service.createKey('enterprise', { perMinute: 100_000, perDay: 100_000 }));
  }

  /** Adds an animal. @returns its ID */
  async addPet(status = 'available'): Promise<number> {
    const body = { name: 'Rex', categoryId: 3, status };
    return ((await this.service.post('/v1/pets', { key: this.key, body })).body as { id: number }).id;
  }

  place(body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<TestResponse> {
    return this.service.post('/v1/store/orders', { key: this.key, body, headers });
  }

  /** Adds an animal and orders it. */
  async placeOne(): Promise<Order> {
    return (await this.place({ petId: await this.addPet() })).body as Order;
  }

  get(orderId: unknown): Promise<TestResponse> {
    return this.service.get(`/v1/store/orders/${String(orderId)}`, { key: this.key });
  }

  list(query = ''): Promise<TestResponse> {
    return this.service.get(`/v1/store/orders${query}`, { key: this.key });
  }

  async getStatus(petId: number): Promise<string> {
    return ((await this.service.get(`/v1/pets/${petId}`, { key: this.key })).body as { status: string }).status;
  }
}

export function getIds({ body }: TestResponse): number[] {
  return (body as Order[]).map(({ id }) => id);
}
