import { EntitySchema } from 'typeorm';
import { bigintColumn, identityColumn } from '../../shared/persistence/bigint-column';
import { Pet } from '../domain/pet';

export const PetSchema = new EntitySchema<Pet>({
  name: 'Pet',
  target: Pet,
  tableName: 'pets',
  columns: {
    id: identityColumn,
    name: { type: 'text' },
    categoryId: { ...bigintColumn, name: 'category_id' },
    status: { type: 'text' },
  },
});
