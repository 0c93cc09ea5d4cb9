import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { type RequestClass, validated } from './validated';

/** Checks the query parameters by the class of the handler's parameter; unknown ones are ignored. */
@Injectable()
export class QueryPipe implements PipeTransform<object, object> {
  transform(query: object, { metatype }: ArgumentMetadata): object {
    return validated(metatype as RequestClass, query, 'invalid_parameter');
  }
}
