import { Module } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import { RateLimitingModule } from '../rate-limiting';
import { AccountsService } from './accounts.service';
import { Authenticator } from './authenticator';
import { AccountRepository } from './domain/account.repository';
import { ApiKeyRepository } from './domain/api-key.repository';
import { BearerStrategy } from './http/bearer.strategy';
import { KeysService } from './keys.service';
import { TypeOrmAccountRepository } from './persistence/typeorm-account.repository';
import { TypeOrmApiKeyRepository } from './persistence/typeorm-api-key.repository';

@Module({
  imports: [PassportModule, RateLimitingModule],
  providers: [
    AccountsService,
    Authenticator,
    BearerStrategy,
    KeysService,
    { provide: AccountRepository, useClass: TypeOrmAccountRepository },
    { provide: ApiKeyRepository, useClass: TypeOrmApiKeyRepository },
  ],
  exports: [AccountsService, Authenticator, KeysService],
})
export class AuthModule {}
