import { ValidationPipe } from '@nestjs/common';
import { Validate, ValidatorConstraint, type ValidatorConstraintInterface } from 'class-validator';
import { SystemClock } from '../../domain/clock';
import { RequestValidationPipe } from './request-validation.pipe';

@ValidatorConstraint({ async: true })
class IsFree implements ValidatorConstraintInterface {
  validate(): Promise<boolean> {
    return Promise.resolve(false);
  }
}

class ReservationDto {
  @Validate(IsFree)
  readonly name!: string;
}

describe('RequestValidationPipe', () => {
  // Nest's pipes share the packages of the pipe that was created last.
  it("leaves asynchronous rules to a module's own ValidationPipe", async () => {
    const own = new ValidationPipe();
    new RequestValidationPipe(new SystemClock());

    await expect(own.transform({ name: 'Rex' }, { type: 'body', metatype: ReservationDto })).rejects.toThrow(
      'Bad Request',
    );
  });
});
