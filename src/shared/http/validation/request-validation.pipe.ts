import { type ArgumentMetadata, Injectable, type Type, ValidationPipe } from '@nestjs/common';
import { getMetadataStorage, type ValidationError, validateSync, type ValidatorOptions } from 'class-validator';
import { Clock } from '../../domain/clock';
import { ExpiringMap } from '../../domain/expiring-map';
import { PetStoreError } from '../../domain/pet-store-error';
import { RequestBody } from '../server/request-body';

/** How long a valid query is cached, because rules of a DTO may depend on the time. */
const CACHE_MS = 1_000;
const CACHE_CAPACITY = 1_000;

/**
 * Transforms the body, query and parameters of every handler into its DTOs and validates them. The body is read here,
 * behind the guards, so that callers without a key or over their limit learn nothing about it.
 */
@Injectable()
export class RequestValidationPipe extends ValidationPipe {
  private readonly fields = new Map<Type, readonly string[]>();
  private readonly queries = new Map<
    Type,
    ExpiringMap<string, { readonly dto: unknown; readonly expiresAt: number }>
  >();

  constructor(private readonly clock: Clock) {
    super({ transform: true, whitelist: true, stopAtFirstError: true });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const plain: unknown = value instanceof RequestBody ? await value.json() : value;
    const { type, metatype } = metadata;
    if (typeof plain !== 'object' || plain === null || metatype === undefined || !this.toValidate(metadata)) {
      return this.validateAs(metadata, plain);
    }
    const fields = this.pickFields(plain, metatype);
    return type === 'query' ? this.validateQuery(fields, metatype, metadata) : this.validateAs(metadata, fields);
  }

  /** Clients repeat few different queries; validating each took 6% of the CPU time of listing. */
  private async validateQuery(fields: object, dto: Type, metadata: ArgumentMetadata): Promise<unknown> {
    const now = this.clock.monotonic();
    const queries = this.queries.get(dto) ?? new ExpiringMap(CACHE_CAPACITY);
    this.queries.set(dto, queries);
    const key = JSON.stringify(fields);
    const known = queries.get(key, now);
    if (known !== undefined) {
      return known.dto;
    }
    const query = Object.freeze(await this.validateAs(metadata, fields));
    queries.set(key, { dto: query, expiresAt: now + CACHE_MS }, now);
    return query;
  }

  private async validateAs(metadata: ArgumentMetadata, value: unknown): Promise<unknown> {
    try {
      return (await super.transform(value, metadata)) as unknown;
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
  private pickFields(plain: object, dto: Type): object {
    const known = this.getFields(dto).filter((field) => Object.hasOwn(plain, field));
    return Object.fromEntries(known.map((field) => [field, (plain as Readonly<Record<string, unknown>>)[field]]));
  }

  private getFields(dto: Type): readonly string[] {
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
