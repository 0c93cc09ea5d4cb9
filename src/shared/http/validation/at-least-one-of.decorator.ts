import { applyDecorators, type Type } from '@nestjs/common';
import { ApiSchema, type ApiSchemaOptions } from '@nestjs/swagger';
import { Exclude } from 'class-transformer';
import { registerDecorator, type ValidationArguments } from 'class-validator';

/** Begins what class-validator takes for a field. */
export const ONE_OF = 'one of ';

/**
 * A body that must have one of these fields, each of which may be left out.
 * @param schema what `@ApiSchema()` would be given
 */
export function AtLeastOneOf(
  fields: readonly [string, string, ...string[]],
  schema?: ApiSchemaOptions,
): ClassDecorator {
  // Swagger's types lack keywords that it puts into the document. `anyOf` would say more, but generators make `unknown` of it.
  return applyDecorators(ApiSchema({ ...schema, minProperties: 1 } as ApiSchemaOptions), (target: object) => {
    // class-validator has rules for fields only. This one is checked, but never taken from a body.
    const propertyName = `${ONE_OF}${fields.join(', ')}`;
    Exclude()((target as Type<object>).prototype as object, propertyName);
    registerDecorator({
      name: 'atLeastOneOf',
      target: target as Type<object>,
      propertyName,
      options: { message: 'at least $property is required' },
      validator: {
        validate: (_: unknown, args?: ValidationArguments) => {
          const body = args?.object as Readonly<Record<string, unknown>>;
          return fields.some((field) => body[field] !== undefined);
        },
      },
    });
  });
}
