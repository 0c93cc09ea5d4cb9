import { type DynamicModule, Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE, DiscoveryModule } from '@nestjs/core';
import { ApiKeyGuard, KnownScopes, ScopeGuard, SlowBodyGuard } from './auth';
import type { Settings } from './config/settings';
import { ERROR_CATALOG } from './error-catalog';
import { FEATURE_MODULES, SCOPES } from './feature-modules';
import { HealthModule } from './health';
import { ObservabilityModule } from './observability';
import { RateLimitGuard, RateLimitingModule } from './rate-limiting';
import type { Clock } from './shared/domain/clock';
import { ErrorCatalog } from './shared/http/errors/error-catalog';
import { ErrorHelp } from './shared/http/errors/error-help';
import { ErrorFilter } from './shared/http/errors/error.filter';
import { RouteTable } from './shared/http/routing/route-table';
import { UnmatchedController, UnmatchedGuard } from './shared/http/routing/unmatched.controller';
import { RequestBodyGuard } from './shared/http/server/request-body.guard';
import { RequestValidationPipe } from './shared/http/validation/request-validation.pipe';
import { SharedModule } from './shared/shared.module';
import { createTypeOrmConfig } from './typeorm.config';

@Module({
  imports: [
    DiscoveryModule,
    HealthModule,
    ObservabilityModule,
    RateLimitingModule,
    ...FEATURE_MODULES.map(({ module }) => module),
  ],
  controllers: [UnmatchedController],
  providers: [
    ApiKeyGuard,
    ScopeGuard,
    RouteTable,
    { provide: ErrorCatalog, useValue: ERROR_CATALOG },
    { provide: KnownScopes, useValue: new KnownScopes(SCOPES) },
    ErrorHelp,
    ErrorFilter,
    // In this order: authentication, rate limits, 404 and 405, scope, body, and after a slow body authentication and scope again.
    { provide: APP_GUARD, useExisting: ApiKeyGuard },
    { provide: APP_GUARD, useClass: RateLimitGuard },
    { provide: APP_GUARD, useClass: UnmatchedGuard },
    { provide: APP_GUARD, useExisting: ScopeGuard },
    { provide: APP_GUARD, useClass: RequestBodyGuard },
    { provide: APP_GUARD, useClass: SlowBodyGuard },
    { provide: APP_PIPE, useClass: RequestValidationPipe },
    { provide: APP_FILTER, useExisting: ErrorFilter },
  ],
})
export class AppModule {
  static forRoot(settings: Settings, clock: Clock): DynamicModule {
    return { module: AppModule, imports: [SharedModule.forRoot(settings, clock, createTypeOrmConfig(settings))] };
  }
}
