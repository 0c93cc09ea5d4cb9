import { IsPageLimit } from './is-page-limit';
import { ApiPropertyOptional } from './openapi-decorators';

/** The query of a list that comes in pages; a list adds its filters. */
export class PageRequest {
  @ApiPropertyOptional({
    description: 'Maximum number of entries returned.',
    type: 'integer',
    format: 'int32',
    minimum: 1,
    maximum: 100,
    default: 20,
    example: 20,
  })
  @IsPageLimit()
  readonly limit: string = '20';

  @ApiPropertyOptional({
    description: 'Where the page begins: taken unchanged from the `Link` header of the page before.',
    type: 'string',
    minLength: 16,
    maxLength: 16,
    pattern: '^[A-Za-z0-9_-]{16}$',
  })
  readonly cursor: unknown;

  constructor(query: Readonly<Record<string, unknown>>) {
    this.limit = (query.limit ?? this.limit) as string;
    this.cursor = query.cursor;
  }
}
