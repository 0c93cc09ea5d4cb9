import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable, UnauthorizedException } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-http-bearer';
import { PLAN_ALLOWANCES } from '../../src/auth/domain/account';
import type { Principal } from '../../src/shared/domain/principal';

const SECRET = 'example';

export function signPartnerToken(accountId: bigint): string {
  return `${accountId}.${createHmac('sha256', SECRET).update(`${accountId}`).digest('base64url')}`;
}

/** Accepts tokens that partners get elsewhere. Each names an account, which the limits apply to. */
@Injectable()
export class PartnerStrategy extends PassportStrategy(Strategy, 'partner') {
  validate(token: string): Principal | false {
    const id = /^([1-9]\d{0,17})\./.exec(token)?.[1];
    if (id === undefined) {
      return false;
    }
    const accountId = BigInt(id);
    const [sent, expected] = [Buffer.from(token), Buffer.from(signPartnerToken(accountId))];
    if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) {
      throw new UnauthorizedException();
    }
    return {
      accountId,
      // Bans are per key; no API key has a negative ID.
      keyId: -accountId,
      keyStart: 'partner',
      plan: 'business',
      isSuspended: false,
      allowance: PLAN_ALLOWANCES.business,
      scopes: ['read'],
      unbanCount: 0,
    };
  }
}
