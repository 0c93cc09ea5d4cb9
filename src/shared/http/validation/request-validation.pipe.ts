import { type ArgumentMetadata, Injectable, type Type, ValidationPipe } from '@nestjs/common';
import { getMetadataStorage, type ValidationError, validateSync, type ValidatorOptions } from 'class-validator';
import { PetStoreError } from '../../domain/pet-store-error';
import { RequestBody } from '../server/request-body';

/**
 * Transforms the body, query and parameters of every handler into its DTOs and validates them. The body is read here,
 * behind the guards, so that callers without a key or over their limit learn nothing about it.
 */
@Injectable()
export class RequestValidationPipe extends ValidationPipe {
  private readonly fields = new Map<Type, readonly string[]>();

  constructor() {
    super({ transform: true, whitelist: true, stopAtFirstError: true });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const plain: unknown = value instanceof RequestBody ? await value.json() : value;
    try {
      return (await super.transform(this.pickFields(plain, metadata), metadata)) as unknown;
    } catch (error) {
      throw error instanceof ValidationFailedError
        ? new PetStoreError(metadata.type === 'body' ? 'invalid_body' : 'invalid_parameter', error.message)
        : error;
    }
  }

  override createExceptionFactory() {
    return (errors: ValidationError[] = []) => new ValidationFailedError(this.flattenValidationErrors(errors));
  }

  // Nest treats a bigint parameter as an object of the class BigInt.
  protected override toValidate(metadata: ArgumentMetadata): boolean {
    return (metadata.metatype as unknown) !== BigInt && super.toValidate(metadata);
  }

  protected override validate(dto: object, options?: ValidatorOptions): ValidationError[] {
    return validateSync(dto, options);
  }

  /** Removes unknown fields before class-transformer sees them: its time grows with the square of their number. */
  private pickFields(plain: unknown, metadata: ArgumentMetadata): unknown {
    if (typeof plain !== 'object' || plain === null || metadata.metatype === undefined || !this.toValidate(metadata)) {
      return plain;
    }
    const known = this.fieldsOf(metadata.metatype).filter((field) => Object.hasOwn(plain, field));
    return Object.fromEntries(known.map((field) => [field, (plain as Readonly<Record<string, unknown>>)[field]]));
  }

  private fieldsOf(dto: Type): readonly string[] {
    const known = this.fields.get(dto);
    if (known !== undefined) {
      return known;
    }
    const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
    const fields = [...new Set(rules.map(({ propertyName }) => propertyName))];
    this.fields.set(dto, fields);
    return fields;
  }
}

class ValidationFailedError extends Error {
  constructor(messages: readonly string[]) {
    super(`${messages.join('; ')}.`);
  }
}
