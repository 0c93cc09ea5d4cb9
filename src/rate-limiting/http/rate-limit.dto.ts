import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { WINDOWS } from '../../shared/domain/allowance';
import type { RateLimitUsage, Window } from '../domain/rate-limiter';
import { getRemaining, mapWindows } from '../domain/windows';
import { toUnixSeconds } from './rate-limit-headers';

const COUNT = { type: 'integer', format: 'int32', maximum: 1_000_000_000 } as const;
const UNIX_SECONDS = {
  type: 'integer',
  format: 'int64',
  minimum: 0,
  maximum: 253_402_300_799,
  example: 1795219260,
} as const;

@ApiSchema({ name: 'RateLimitWindow', description: 'The usage of one window of the account.' })
export class RateLimitWindowDto {
  @ApiProperty({ description: 'Request allowance of the plan for the window.', ...COUNT, minimum: 1, example: 60 })
  readonly limit: number;

  @ApiProperty({ description: 'Requests remaining in the window.', ...COUNT, minimum: 0, example: 59 })
  readonly remaining: number;

  @ApiProperty({
    description:
      'Unix timestamp at which the window ends, in seconds. If no window is open, this is the end of a window that would open now.',
    ...UNIX_SECONDS,
  })
  readonly reset: number;

  constructor(window: Window) {
    this.limit = window.limit;
    this.remaining = getRemaining(window);
    this.reset = toUnixSeconds(window.endsAt);
  }
}

@ApiSchema({ name: 'RateLimitBan', description: 'A temporary ban of the API key.' })
export class RateLimitBanDto {
  @ApiProperty({ description: 'Unix timestamp at which the ban ends, in seconds.', ...UNIX_SECONDS })
  readonly reset: number;

  constructor(bannedUntil: number) {
    this.reset = toUnixSeconds(bannedUntil);
  }
}

@ApiSchema({
  name: 'RateLimit',
  description: "The rate limit usage of the API key's account, and the key's ban, if any.",
})
export class RateLimitDto {
  constructor({ windows, bannedUntil }: RateLimitUsage) {
    const dtos = mapWindows(({ name }) => new RateLimitWindowDto(windows[name]));
    Object.assign(this, dtos, bannedUntil !== undefined && { ban: new RateLimitBanDto(bannedUntil) });
  }
}
// Each window is a property, before the ban.
for (const { name, opens } of WINDOWS) {
  const description =
    opens === 'calendar'
      ? `The UTC calendar ${name}.`
      : `The ${name} window, which opens at the first counted request.`;
  ApiProperty({ description, type: RateLimitWindowDto })(RateLimitDto.prototype, name);
}
ApiPropertyOptional({ description: "The key's ban; absent if the key is not banned.", type: RateLimitBanDto })(
  RateLimitDto.prototype,
  'ban',
);
