import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-http-bearer';
import type { Principal } from '../../shared/domain/principal';
import { Authenticator } from '../authenticator';
import { AuthenticationError } from '../domain/auth-errors';

/** The name under which passport knows the strategy of API keys. */
export const API_KEY_STRATEGY = 'bearer';

/** RFC 6750 section 2.1: the scheme in any case (RFC 9110 section 11.1), one or more spaces, a b64token. */
const BEARER_CREDENTIALS = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;

type BearerRequest = Parameters<InstanceType<typeof Strategy>['authenticate']>[0];

/** @returns undefined if the header is not a single well-formed one; the HTTP server joins several by commas */
export function parseBearerToken(authorization = ''): string | undefined {
  return BEARER_CREDENTIALS.exec(authorization)?.[1];
}

/** The passport strategy of API keys: a valid API key in the `Authorization` header. */
@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy, API_KEY_STRATEGY) {
  constructor(private readonly authenticator: Authenticator) {
    super();
  }

  /** The package would also accept `access_token` in the query and the body, and only one space after the scheme. */
  override authenticate({ headers }: Pick<BearerRequest, 'headers'>): void {
    const token = parseBearerToken(headers.authorization);
    super.authenticate({ headers: token === undefined ? {} : { authorization: `Bearer ${token}` } } as BearerRequest);
  }

  /** For an invalid key, returns the code of the error, which passport passes on, so that it tries the next strategy. */
  async validate(token: string): Promise<Principal | [user: false, code: string]> {
    try {
      // Cached if another strategy comes first, so that the guard has not looked.
      return this.authenticator.findCached(token) ?? (await this.authenticator.authenticate(token));
    } catch (error) {
      if (error instanceof AuthenticationError) {
        return [false, error.code];
      }
      throw error;
    }
  }
}
