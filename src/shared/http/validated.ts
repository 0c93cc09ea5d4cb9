import type { Type } from '@nestjs/common';
import type { ErrorCode } from '../domain/error-codes';
import { PetStoreError } from '../domain/pet-store-error';
import { Validator } from './validation';

/** A request as a class: its constructor takes over the fields it knows, its decorators check them. */
export type RequestClass = Type<object>;

const validator = new Validator();

/** @throws PetStoreError with `code`, naming each wrong field and what is wrong with it. */
export function validated(request: RequestClass, values: object, code: ErrorCode): object {
  const instance = new request(values);
  const problems = validator.validateSync(instance, { stopAtFirstError: true, forbidUnknownValues: false });
  if (problems.length > 0) {
    const messages = problems.flatMap(({ constraints = {} }) => Object.values(constraints));
    throw new PetStoreError(code, `${messages.join('; ')}.`);
  }
  return instance;
}
