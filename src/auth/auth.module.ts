import { Module } from '@nestjs/common';
import { PassportModule } from '@nestjs/passport';
import { RateLimitingModule } from '../rate-limiting';
import { AccountsModule } from './accounts.module';
import { Authenticator } from './authenticator';
import { API_KEY_STRATEGY, BearerStrategy } from './http/bearer.strategy';
import { LastUsedTracker } from './last-used-tracker';
import { ApiKeyCache } from './api-key-cache';

@Module({
  imports: [
    AccountsModule,
    // One strategy, or a list that is tried in order, for every operation without `@AuthStrategies()`.
    PassportModule.register({ defaultStrategy: API_KEY_STRATEGY }),
    RateLimitingModule,
  ],
  providers: [Authenticator, BearerStrategy, LastUsedTracker, ApiKeyCache],
  exports: [AccountsModule, Authenticator, PassportModule],
})
export class AuthModule {}
