import { ApiPropertyOptional } from '@nestjs/swagger';
import { Allow } from 'class-validator';
import { IsPageLimit } from './is-page-limit.decorator';

/** The query of a paginated list; a list adds its filters. */
export class PageQueryDto {
  @ApiPropertyOptional({ description: 'Maximum number of entries returned.', default: 20, example: 20 })
  @IsPageLimit()
  readonly limit: number = 20;

  @ApiPropertyOptional({
    description: 'Start of the page. Opaque: use the value from the `Link` header of the previous page, unchanged.',
    type: 'string',
  })
  // Validated together with the filters when it is decoded.
  @Allow()
  readonly cursor?: unknown;
}
