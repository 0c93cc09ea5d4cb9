import { Module } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import { RateLimitingModule } from '../rate-limiting';
import { AccountsModule } from './accounts.module';
import { Authenticator } from './authenticator';
import { BearerStrategy } from './http/bearer.strategy';
import { LastUsedTracker } from './last-used-tracker';
import { ApiKeyCache } from './api-key-cache';

@Module({
  imports: [AccountsModule, PassportModule, RateLimitingModule],
  providers: [Authenticator, BearerStrategy, LastUsedTracker, ApiKeyCache],
  exports: [AccountsModule, Authenticator],
})
export class AuthModule {}
