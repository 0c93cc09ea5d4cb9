import { Controller, Get, Injectable, Module, Post } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import { passportJwtSecret } from 'jwks-rsa';
import { ExtractJwt, Strategy } from 'passport-jwt';
import { AccountsModule, AccountsService, AuthStrategies } from '../../src/auth';
import type { Principal } from '../../src/shared/domain/principal';
import { AccountId } from '../../src/shared/http/access/request-principal';

interface Claims {
  readonly account_id?: unknown;
}

/** Accepts the tokens that an identity provider signs with one of the keys at IDENTITY_PROVIDER_URL. */
@Injectable()
export class JwtStrategy extends PassportStrategy(Strategy, 'jwt') {
  constructor(private readonly accounts: AccountsService) {
    const issuer = process.env.IDENTITY_PROVIDER_URL ?? '';
    super({
      jwtFromRequest: ExtractJwt.fromAuthHeaderAsBearerToken(),
      secretOrKeyProvider: passportJwtSecret({ jwksUri: `${issuer}/jwks.json`, cache: true, rateLimit: true }),
      algorithms: ['RS256'],
      issuer,
      audience: 'petstore',
    });
  }

  validate({ account_id: id }: Claims): Promise<Principal | undefined> | false {
    return typeof id === 'string' && /^[1-9]\d{0,17}$/.test(id) && this.accounts.findPrincipal(BigInt(id), ['read']);
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
