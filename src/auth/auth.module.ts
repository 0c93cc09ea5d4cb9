import { Module } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import { RateLimitingModule } from '../rate-limiting';
import { AccountsModule } from './accounts.module';
import { Authenticator } from './authenticator';
import { BearerStrategy } from './http/bearer.strategy';
import { KeyUses } from './key-uses';

@Module({
  imports: [AccountsModule, PassportModule, RateLimitingModule],
  providers: [Authenticator, BearerStrategy, KeyUses],
  exports: [AccountsModule, Authenticator],
})
export class AuthModule {}
