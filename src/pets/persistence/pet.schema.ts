import { EntitySchema } from 'typeorm';
import { bigintColumn, type Columns, identityColumn } from '../../shared/persistence/columns';
import { createInCondition } from '../../shared/persistence/table-statements';
import { Pet, PET_NAME_MAX_LENGTH, PET_STATUSES } from '../domain/pet';

export const PetSchema = new EntitySchema<Pet>({
  name: 'Pet',
  target: Pet,
  tableName: 'pets',
  columns: {
    id: identityColumn,
    name: { type: 'text' },
    categoryId: { ...bigintColumn, name: 'category_id' },
    status: { type: 'text' },
  } satisfies Columns<Pet>,
  indices: [{ name: 'pets_status_id', columns: ['status', 'id'] }],
  checks: [
    {
      name: 'pets_name_check',
      expression: `char_length(name) BETWEEN 1 AND ${PET_NAME_MAX_LENGTH} AND btrim(name, E' \\t\\n\\x0B\\f\\r') <> ''`,
    },
    { name: 'pets_status_check', expression: createInCondition('status', PET_STATUSES) },
  ],
});
