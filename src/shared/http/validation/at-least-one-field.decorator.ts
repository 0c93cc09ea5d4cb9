import { applyDecorators, type Type } from '@nestjs/common';
import { ApiSchema, type ApiSchemaOptions } from '@nestjs/swagger';
import { Exclude } from 'class-transformer';
import { getMetadataStorage, registerDecorator, type ValidationArguments } from 'class-validator';

/** The prefix of the property name that class-validator sees. */
export const ONE_OF = 'one of ';

/**
 * Requires at least one of the fields of a body, which are all optional.
 * @param schema the options of `@ApiSchema()`
 */
export function AtLeastOneField(schema?: ApiSchemaOptions): ClassDecorator {
  // The types of @nestjs/swagger lack keywords that the package supports. `anyOf` would be more precise, but generators turn it into
  // `unknown`.
  return applyDecorators(ApiSchema({ ...schema, minProperties: 1 } as ApiSchemaOptions), (target: object) => {
    const rules = getMetadataStorage().getTargetValidationMetadatas(target as Type<object>, '', false, false);
    const fields = [...new Set(rules.map(({ propertyName }) => propertyName))];
    // class-validator has rules for fields only. This property is validated, but never read from a body.
    const propertyName = `${ONE_OF}${fields.join(', ')}`;
    Exclude()((target as Type<object>).prototype as object, propertyName);
    registerDecorator({
      name: 'atLeastOneField',
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
