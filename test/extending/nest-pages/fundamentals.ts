import { randomUUID } from 'node:crypto';
import {
  ConfigurableModuleBuilder,
  Controller,
  type ExecutionContext,
  forwardRef,
  Get,
  Global,
  HttpException,
  HttpStatus,
  Inject,
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnModuleInit,
  Param,
  Scope,
} from '@nestjs/common';
import * as nest from '@nestjs/common';
import {
  type ContextId,
  ContextIdFactory,
  type ContextIdStrategy,
  DiscoveryModule,
  DiscoveryService,
  type HostComponentInfo,
  INQUIRER,
  LazyModuleLoader,
  ModuleRef,
  REQUEST,
} from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { Public } from '../../../src/shared/http/access/public.decorator';

// Custom and asynchronous providers, dynamic modules

interface ShelfOptions {
  readonly name: string;
}

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<ShelfOptions>().build();

@Global()
@Module({
  providers: [
    { provide: 'SHELF', useFactory: (options: ShelfOptions) => options.name, inject: [MODULE_OPTIONS_TOKEN] },
    { provide: 'ALIAS', useExisting: 'SHELF' },
    { provide: 'CONNECTION', useFactory: () => Promise.resolve('connected') },
  ],
  exports: ['SHELF', 'ALIAS', 'CONNECTION'],
})
class ShelfModule extends ConfigurableModuleClass {}

// Injection scopes, durable providers

@Injectable({ scope: Scope.REQUEST })
class RequestScopedService {
  readonly id = randomUUID();

  constructor(@Inject(REQUEST) private readonly request: FastifyRequest) {}

  describe(): object {
    return { id: this.id, accountId: this.request.principal?.accountId, url: this.request.url };
  }
}

@Injectable({ scope: Scope.TRANSIENT })
class TransientService {
  constructor(@Inject(INQUIRER) private readonly parent: object) {}

  get parentName(): string {
    return this.parent.constructor.name;
  }
}

@Injectable({ scope: Scope.REQUEST, durable: true })
class DurableService {
  readonly id = randomUUID();

  constructor(@Inject(REQUEST) readonly context: { readonly tenant: string }) {}
}

/** Creates one tree of durable providers for each tenant. */
export class TenantContextIdStrategy implements ContextIdStrategy<FastifyRequest> {
  private readonly tenants = new Map<string, ContextId>();

  attach(contextId: ContextId, request: FastifyRequest): ReturnType<ContextIdStrategy['attach']> {
    const tenant = String(request.headers['x-tenant'] ?? '');
    const tenantId = this.tenants.get(tenant) ?? ContextIdFactory.create();
    this.tenants.set(tenant, tenantId);
    return {
      resolve: ({ isTreeDurable }: HostComponentInfo) => (isTreeDurable ? tenantId : contextId),
      payload: { tenant },
    };
  }
}

@Controller({ path: 'scopes', version: '1' })
class ScopesController {
  constructor(
    private readonly scoped: RequestScopedService,
    private readonly transient: TransientService,
  ) {}

  @Get()
  get(): object {
    return { ...this.scoped.describe(), parent: this.transient.parentName };
  }
}

@Controller({ path: 'durable', version: '1' })
class DurableController {
  constructor(private readonly durable: DurableService) {}

  @Get()
  get(): object {
    return { id: this.durable.id, tenant: this.durable.context.tenant };
  }
}

// Circular dependency

@Injectable()
class HenService {
  constructor(@Inject(forwardRef(() => EggService)) private readonly egg: { readonly name: string }) {}

  readonly name = 'hen';

  describe(): string {
    return `${this.name} from ${this.egg.name}`;
  }
}

@Injectable()
class EggService {
  readonly name = 'egg';

  constructor(@Inject(forwardRef(() => HenService)) readonly hen: { readonly name: string }) {}
}

// Module reference, lazy-loading modules, discovery, lifecycle events, execution context

@Injectable()
class LazyService {
  readonly name = 'lazy';
}

@Module({ providers: [LazyService], exports: [LazyService] })
class LazyModule {}

const Plugin = DiscoveryService.createDecorator<{ readonly name: string }>();

@Injectable()
@Plugin({ name: 'first' })
class FirstPlugin {}

@Injectable()
class Lifecycle implements OnModuleInit, OnApplicationBootstrap {
  readonly events: string[] = [];

  onModuleInit(): void {
    this.events.push('init');
  }

  onApplicationBootstrap(): void {
    this.events.push('bootstrap');
  }
}

@Injectable()
class ContextGuard {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<FastifyRequest>();
    headers['x-context'] = `${context.getType()} ${context.getClass().name}.${context.getHandler().name}`;
    return true;
  }
}

@Controller({ path: 'fundamentals', version: '1' })
@nest.UseGuards(ContextGuard)
class FundamentalsController {
  constructor(
    @Inject('SHELF') private readonly shelf: string,
    @Inject('ALIAS') private readonly alias: string,
    @Inject('CONNECTION') private readonly connection: string,
    private readonly hen: HenService,
    private readonly moduleRef: ModuleRef,
    private readonly lazyLoader: LazyModuleLoader,
    private readonly discovery: DiscoveryService,
    private readonly lifecycle: Lifecycle,
  ) {}

  @Get('providers')
  getProviders(): object {
    return { shelf: this.shelf, alias: this.alias, connection: this.connection, hen: this.hen.describe() };
  }

  @Get('references')
  async getReferences(@nest.Headers('x-context') context: string): Promise<object> {
    const lazy = await this.lazyLoader.load(() => LazyModule);
    const created = await this.moduleRef.create(LazyService);
    const plugins = this.discovery
      .getProviders({ metadataKey: Plugin.KEY })
      .map((wrapper) => this.discovery.getMetadataByDecorator(Plugin, wrapper)?.name);
    return {
      lazy: lazy.get(LazyService).name,
      created: created.name,
      lifecycle: this.moduleRef.get(Lifecycle) === this.lifecycle ? this.lifecycle.events : [],
      plugins,
      context,
    };
  }
}

// Built-in HTTP exceptions

/** Every exception class of @nestjs/common, by its name. */
export const EXCEPTIONS = Object.entries(nest as Readonly<Record<string, unknown>>).filter(
  (entry): entry is [string, new (message: string) => HttpException] =>
    entry[0].endsWith('Exception') &&
    typeof entry[1] === 'function' &&
    entry[1].prototype instanceof HttpException &&
    entry[0] !== 'IntrinsicException',
);

@Controller({ path: 'exceptions', version: '1' })
class ExceptionsController {
  @Get('status/:status')
  @Public()
  throwStatus(@Param('status') status: string): never {
    throw new HttpException('As thrown.', Number(status));
  }

  @Get('empty')
  throwEmpty(): never {
    throw new HttpException('', HttpStatus.CONFLICT);
  }

  @Get(':name')
  throwNamed(@Param('name') name: string): never {
    const Exception = EXCEPTIONS.find(([each]) => each === name)?.[1];
    throw Exception === undefined ? new HttpException('Unknown', HttpStatus.NOT_FOUND) : new Exception('As thrown.');
  }
}

/** What the chapter Fundamentals of Nest's documentation shows. */
@Module({
  imports: [DiscoveryModule, ShelfModule.register({ name: 'toys' })],
  controllers: [ScopesController, DurableController, FundamentalsController, ExceptionsController],
  providers: [RequestScopedService, TransientService, DurableService, HenService, EggService, FirstPlugin, Lifecycle],
})
export class FundamentalsModule {}
