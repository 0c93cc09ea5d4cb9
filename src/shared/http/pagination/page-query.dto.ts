import { ApiPropertyOptional } from '@nestjs/swagger';
import { Allow } from 'class-validator';
import { IsPageLimit } from './is-page-limit.decorator';

/** The query of a list that comes in pages; a list adds its filters. */
export class PageQueryDto {
  @ApiPropertyOptional({ description: 'Maximum number of entries returned.', default: 20, example: 20 })
  @IsPageLimit()
  readonly limit: number = 20;

  @ApiPropertyOptional({
    description: 'Where the page begins: opaque, taken unchanged from the `Link` header of the page before.',
    type: 'string',
  })
  // Checked together with the filters, when it is decoded.
  @Allow()
  readonly cursor?: unknown;
}
