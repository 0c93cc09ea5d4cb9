import { type ArgumentMetadata, Injectable, type Type, ValidationPipe } from '@nestjs/common';
import * as classTransformer from 'class-transformer';
import * as classValidator from 'class-validator';
import { getMetadataStorage, type ValidationError, validateSync, type ValidatorOptions } from 'class-validator';
import { Clock } from '../../domain/clock';
import { ExpiringMap } from '../../domain/expiring-map';
import { PetStoreError } from '../../domain/pet-store-error';
import { RequestBody } from '../server/request-body';

/** How long a valid query stays cached. This is short, because the rules of a DTO may depend on the time. */
const CACHE_TTL_MS = 1_000;
const CACHE_CAPACITY = 1_000;

interface DtoInfo {
  /** The fields that have rules. */
  readonly fields: readonly string[];
  /** The recent valid queries, by their JSON. */
  readonly queries: ExpiringMap<string, { readonly query: unknown; readonly expiresAt: number }>;
}

/**
 * Transforms the body, query and parameters of every handler into its DTOs and validates them. The body is read only here, after the
 * guards, so that callers without a key or over their limit learn nothing about it.
 */
@Injectable()
export class RequestValidationPipe extends ValidationPipe {
  private readonly dtos = new Map<Type, DtoInfo>();

  constructor(private readonly clock: Clock) {
    super({
      transform: true,
      whitelist: true,
      stopAtFirstError: true,
      // Nest's default. Otherwise, Nest would add it to a copy of the options for each value, and V8 would create a hidden class for
      // each copy.
      validationError: { target: false },
      // Otherwise, Nest would import the packages as ES modules, and Node.js would search all of their files for exports.
      validatorPackage: classValidator,
      transformerPackage: classTransformer,
    });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const plain: unknown = value instanceof RequestBody ? await value.json() : value;
    const { type, metatype } = metadata;
    if (typeof plain !== 'object' || plain === null || metatype === undefined || !this.toValidate(metadata)) {
      return this.transformAndValidate(metadata, plain);
    }
    const dto = this.getDtoInfo(metatype);
    const fields = pickFields(plain, dto);
    return type === 'query' ? this.validateQuery(fields, dto, metadata) : this.transformAndValidate(metadata, fields);
  }

  /** Clients send few distinct queries; validating each took 6% of the CPU time of listing. */
  private async validateQuery(fields: object, { queries }: DtoInfo, metadata: ArgumentMetadata): Promise<unknown> {
    const now = this.clock.monotonic();
    const key = JSON.stringify(fields);
    const cached = queries.get(key, now);
    if (cached !== undefined) {
      return cached.query;
    }
    const query = Object.freeze(await this.transformAndValidate(metadata, fields));
    queries.set(key, { query, expiresAt: now + CACHE_TTL_MS }, now);
    return query;
  }

  private async transformAndValidate(metadata: ArgumentMetadata, value: unknown): Promise<unknown> {
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

  private getDtoInfo(type: Type): DtoInfo {
    let dto = this.dtos.get(type);
    if (dto === undefined) {
      const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
      const fields = [...new Set(rules.map(({ propertyName }) => propertyName))];
      dto = { fields, queries: new ExpiringMap(CACHE_CAPACITY) };
      this.dtos.set(type, dto);
    }
    return dto;
  }
}

/** Removes unknown fields before class-transformer sees them: its time grows with the square of their number. */
function pickFields(plain: object, { fields }: DtoInfo): object {
  const known = fields.filter((field) => Object.hasOwn(plain, field));
  return Object.fromEntries(known.map((field) => [field, (plain as Readonly<Record<string, unknown>>)[field]]));
}

class ValidationFailedError extends Error {
  constructor(messages: readonly string[]) {
    super(`${messages.join('; ')}.`);
  }
}
