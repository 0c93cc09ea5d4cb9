import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { SkipThrottle } from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { WINDOWS } from '../../shared/domain/allowance';
import { requirePrincipal } from '../../shared/http/access/request-principal';
import { OmitApiErrors } from '../../shared/openapi/api-errors';
import { ApiGroup } from '../../shared/openapi/api-group.decorator';
import { Stability } from '../../versioning';
import { RateLimiter } from '../domain/rate-limiter';
import { RateLimitDto } from './rate-limit.dto';
import { setRateLimitUsageHeaders } from './rate-limit-headers';

@ApiGroup('rate limits', 'The remaining requests of your plan.')
@Controller({ path: 'rate-limit', version: '1' })
export class RateLimitController {
  constructor(private readonly limiter: RateLimiter) {}

  @Get()
  @SkipThrottle()
  @OmitApiErrors(...WINDOWS.map(({ error }) => error), 'key_temporarily_banned')
  @Stability('beta')
  @ApiOperation({
    summary: 'Get the rate limit usage',
    description:
      "Returns the usage of the windows of the key's account, and the key's ban, if any. The request is not " +
      'counted in any window, and is not rejected when a window is exhausted or the key is banned.',
  })
  @ApiOkResponse({ description: 'The rate limit usage.', type: RateLimitDto })
  async getRateLimit(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RateLimitDto> {
    const principal = requirePrincipal(request);
    const usage = await this.limiter.readUsage(principal);
    setRateLimitUsageHeaders(reply, principal, usage);
    return new RateLimitDto(usage);
  }
}
