import type { ErrorCases } from '../../support/documented-errors';

export const createErrorCases: ErrorCases = (service, key) => {
  const order = (petId: number) => service.post('/v1/store/orders', { key, body: { petId } });
  return {
    unknown_pet: () => order(999_999),
    pet_not_available: async () => {
      const body = { name: 'Rex', categoryId: 3, status: 'sold' };
      const { id } = (await service.post('/v1/pets', { key, body })).body as { id: number };
      return order(id);
    },
    order_not_found: () => service.get('/v1/store/orders/999999', { key }),
  };
};
