import { Controller, Get, Injectable, Module, Post } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import { createRemoteJWKSet, decodeProtectedHeader, errors } from 'jose';
import { KeyObject } from 'node:crypto';
import { type SecretOrKeyProvider, Strategy } from 'passport-jwt';
import { AccountsModule, AccountsService, AuthStrategies, parseBearerToken } from '../../src/auth';
import { ServiceUnavailableError } from '../../src/shared/domain/pet-store-error';
import type { Principal } from '../../src/shared/domain/principal';
import { AccountId } from '../../src/shared/http/access/request-principal';

/** Other errors mean that the keys could not be read. */
const TOKEN_ERRORS = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported];

/** Reads the keys again at most twice a minute, also when clients send unknown key IDs. */
function createKeyProvider(url: string): SecretOrKeyProvider {
  const findKey = createRemoteJWKSet(new URL(url));
  const readKey = async (token: string) => {
    const key = await findKey(decodeProtectedHeader(token)).catch((error: unknown) => {
      throw TOKEN_ERRORS.some((type) => error instanceof type) ? error : new ServiceUnavailableError(error);
    });
    return KeyObject.from(key).export({ type: 'spki', format: 'pem' });
  };
  return (_request: unknown, token: string, done) => {
    readKey(token).then((key) => {
      done(null, key);
    }, done);
  };
}

/** Accepts the tokens that an identity provider signs with one of the keys at IDENTITY_PROVIDER_URL. */
@Injectable()
export class JwtStrategy extends PassportStrategy(Strategy, 'jwt') {
  constructor(private readonly accounts: AccountsService) {
    const issuer = process.env.IDENTITY_PROVIDER_URL ?? '';
    super({
      jwtFromRequest: ({ headers }: Pick<FastifyRequest, 'headers'>) => parseBearerToken(headers.authorization) ?? null,
      secretOrKeyProvider: createKeyProvider(`${issuer}/jwks.json`),
      algorithms: ['RS256'],
      issuer,
      audience: 'petstore',
    });
  }

  /** A token without an end would be valid for ever. */
  validate({ account_id: id, exp }: Record<string, unknown>): Promise<Principal | undefined> | false {
    const isValid = typeof id === 'string' && /^[1-9]\d{0,17}$/.test(id) && exp !== undefined;
    return isValid && this.accounts.findPrincipal(BigInt(id), ['read']);
  }
}

@Controller({ path: 'profile', version: '1' })
@AuthStrategies('bearer', 'jwt')
class ProfileController {
  @Get()
  getProfile(@AccountId() accountId: bigint): object {
    return { accountId };
  }

  @Post()
  setProfile(@AccountId() accountId: bigint): object {
    return { accountId };
  }

  @Get('sessions')
  @AuthStrategies('jwt')
  listSessions(): [] {
    return [];
  }
}

@Module({ imports: [AccountsModule], providers: [JwtStrategy], controllers: [ProfileController] })
export class JwtModule {}
