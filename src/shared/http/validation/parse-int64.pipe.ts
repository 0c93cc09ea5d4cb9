import { Injectable, type PipeTransform } from '@nestjs/common';
import { parsePositiveInt64 } from '../../domain/int64';

interface ParseInt64PipeOptions {
  /** Creates the error for anything but a positive int64 in canonical decimal form. */
  readonly exceptionFactory: () => Error;
}

/** Parses the ID in a path to a bigint. */
@Injectable()
export class ParseInt64Pipe implements PipeTransform<string, bigint> {
  constructor(private readonly options: ParseInt64PipeOptions) {}

  transform(value: string): bigint {
    const id = parsePositiveInt64(value);
    if (id === undefined) {
      throw this.options.exceptionFactory();
    }
    return id;
  }
}
