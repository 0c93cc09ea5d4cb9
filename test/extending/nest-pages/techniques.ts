import { Readable } from 'node:stream';
import '@fastify/cookie';
import multipart, { type MultipartFile } from '@fastify/multipart';
import { CACHE_MANAGER, CacheInterceptor, CacheModule, CacheTTL } from '@nestjs/cache-manager';
import {
  Body,
  type CallHandler,
  ClassSerializerInterceptor,
  Controller,
  Cookies,
  type ExecutionContext,
  Get,
  Header,
  Inject,
  Injectable,
  MaxFileSizeValidator,
  type MessageEvent,
  Module,
  type NestInterceptor,
  type OnModuleDestroy,
  type OnModuleInit,
  ParseFilePipe,
  Post,
  Query,
  RawBody,
  Req,
  Res,
  SerializeOptions,
  Sse,
  StreamableFile,
  UploadedFile,
  UseInterceptors,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { type FastifyAdapter, RouteConfig, RouteConstraints, RouteSchema } from '@nestjs/platform-fastify';
import { FileInterceptor } from '@nestjs/platform-fastify/multipart';
import {
  MessageBody,
  OnGatewayConnection,
  SubscribeMessage,
  WebSocketGateway,
  WebSocketServer,
  type WsResponse,
} from '@nestjs/websockets';
import type { Cache } from 'cache-manager';
import { Exclude, Expose, Transform } from 'class-transformer';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { concat, from, map, type Observable, of, throwError } from 'rxjs';
import { Idempotent, type Once } from '../../../src/idempotency';
import { PetsModule, PetsService } from '../../../src/pets';
import type { Pet } from '../../../src/pets/domain/pet';
import { mapItems } from '../../../src/shared/domain/page';
import { Public } from '../../../src/shared/http/access/public.decorator';

// Configuration, task scheduling

@Injectable()
class ConfigService {
  get(name: string): string | undefined {
    return { DATABASE_HOST: 'localhost' }[name];
  }
}

/** What @nestjs/schedule does with `@Interval(5)`. */
@Injectable()
class TasksService implements OnModuleInit, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  firstRun: Promise<void> | undefined;

  onModuleInit(): void {
    this.firstRun = new Promise((resolve) => {
      this.timer = setInterval(resolve, 5);
    });
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }
}

@Controller({ path: 'tasks', version: '1' })
class TasksController {
  constructor(
    private readonly tasks: TasksService,
    private readonly config: ConfigService,
  ) {}

  @Get()
  async get(): Promise<object> {
    await this.tasks.firstRun;
    return { host: this.config.get('DATABASE_HOST') };
  }
}

// Caching

@Controller({ path: 'cache', version: '1' })
class CacheController {
  private calls = 0;

  constructor(@Inject(CACHE_MANAGER) private readonly cache: Cache) {}

  @Get()
  @UseInterceptors(CacheInterceptor)
  @CacheTTL(60_000)
  findAll(): object {
    return { calls: ++this.calls };
  }

  @Get('manual')
  async manual(): Promise<object> {
    await this.cache.set('key', 'value');
    return { value: await this.cache.get('key') };
  }
}

// Serialization

class RoleEntity {
  constructor(readonly name: string) {}
}

class UserEntity {
  readonly id = 9_007_199_254_740_993n;
  readonly firstName = 'Ada';

  @Exclude()
  readonly password = 'secret';

  @Expose()
  get fullName(): string {
    return `${this.firstName} Lovelace`;
  }

  @Transform(({ value }: { value: RoleEntity }) => value.name)
  readonly role = new RoleEntity('admin');
}

@Controller({ path: 'serialization', version: '1' })
@UseInterceptors(ClassSerializerInterceptor)
class SerializationController {
  @Get()
  get(): UserEntity {
    return new UserEntity();
  }

  @Post('once')
  once(@Idempotent() once: Once): Promise<unknown> {
    return once(() => new UserEntity());
  }

  @Get('type')
  @SerializeOptions({ type: UserEntity, excludePrefixes: ['_'] })
  getType(): object {
    return { firstName: 'Ada', password: 'secret', _internal: 1 };
  }
}

class PetEntity {
  name: string;

  @Exclude()
  readonly categoryId: bigint;

  constructor({ name, categoryId }: Pet) {
    this.name = name;
    this.categoryId = categoryId;
  }
}

@Injectable()
class UpperCaseInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      map((data: unknown) => {
        for (const pet of Array.isArray(data) ? (data as PetEntity[]) : []) {
          pet.name = pet.name.toUpperCase();
        }
        return data;
      }),
    );
  }
}

@Controller({ path: 'lists', version: '1' })
class ListsController {
  constructor(private readonly pets: PetsService) {}

  @Get()
  async list(): Promise<PetEntity[]> {
    const { items } = await this.pets.list({ status: undefined, after: 0n, limit: 1 });
    return mapItems(items, PetEntity);
  }

  @Get('serialized')
  @UseInterceptors(ClassSerializerInterceptor)
  listSerialized(): Promise<PetEntity[]> {
    return this.list();
  }

  @Get('changed')
  @UseInterceptors(UpperCaseInterceptor)
  listChanged(): Promise<PetEntity[]> {
    return this.list();
  }

  @Get('cached')
  @UseInterceptors(CacheInterceptor)
  @CacheTTL(60_000)
  listCached(): Promise<PetEntity[]> {
    return this.list();
  }
}

// Cookies, session, compression, file upload

/** Plugins that a module registers. */
@Injectable()
class FastifyPlugins implements OnModuleInit {
  constructor(private readonly host: HttpAdapterHost) {}

  async onModuleInit(): Promise<void> {
    const adapter = this.host.httpAdapter as FastifyAdapter;
    await adapter.register(multipart as unknown as Parameters<FastifyAdapter['register']>[0], {
      limits: { fileSize: 1_000_000 },
    });
    adapter
      .getInstance<FastifyInstance>()
      .addContentTypeParser('text/csv', { parseAs: 'string' }, (_request, body, done) => {
        done(null, String(body).split(','));
      });
  }
}

@Controller({ path: 'cookies', version: '1' })
class CookiesController {
  @Get()
  get(@Cookies('name') name: string, @Res({ passthrough: true }) reply: FastifyReply): object {
    reply.setCookie('key', 'value');
    return { name };
  }
}

@Controller({ path: 'session', version: '1' })
class SessionController {
  @Get()
  count(@Req() request: FastifyRequest & { session: { visits?: number } }): object {
    request.session.visits = (request.session.visits ?? 0) + 1;
    return { visits: request.session.visits };
  }
}

@Controller({ path: 'compression', version: '1' })
class CompressionController {
  @Get()
  get(): object {
    return { text: 'a'.repeat(1_000) };
  }
}

@Controller({ path: 'files', version: '1' })
class FilesController {
  @Post('upload')
  async upload(@Req() request: FastifyRequest & { file(): Promise<MultipartFile | undefined> }): Promise<object> {
    const file = await request.file();
    return { name: file?.filename, bytes: (await file?.toBuffer())?.length };
  }

  @Post('intercepted')
  @UseInterceptors(FileInterceptor('file'))
  intercept(
    @UploadedFile(new ParseFilePipe({ validators: [new MaxFileSizeValidator({ maxSize: 6 })] })) file: { size: number },
    @Body() body: Record<string, string>,
  ): object {
    return { size: file.size, name: body.name };
  }

  @Post('raw')
  raw(@RawBody() raw: Buffer): object {
    return { raw: raw.toString() };
  }

  @Post('csv')
  csv(@Body() cells: string[]): string[] {
    return cells;
  }

  @Get('stream')
  getFile(): StreamableFile {
    return new StreamableFile(Readable.from([Buffer.from('part 1, '), Buffer.from('part 2')]), {
      type: 'text/plain',
      disposition: 'attachment; filename="parts.txt"',
    });
  }

  @Get('buffer')
  @Header('Content-Type', 'image/png')
  getBuffer(): StreamableFile {
    return new StreamableFile(Buffer.from([1, 2, 3]));
  }

  @Get('lines')
  async *getLines(): AsyncGenerator<object> {
    yield { line: await Promise.resolve(1) };
    yield { line: 2 };
  }

  @Get('failing')
  getFailing(): StreamableFile {
    return new StreamableFile(
      new Readable({
        read() {
          this.destroy(new Error('secret'));
        },
      }),
    );
  }
}

// Server-sent events

@Controller({ path: 'events', version: '1' })
class EventsController {
  @Sse('sse')
  sse(): Observable<MessageEvent> {
    return from([1, 2]).pipe(map((count) => ({ data: { count }, type: 'counted' })));
  }

  @Sse('failing')
  fail(): Observable<MessageEvent> {
    return concat(
      of({ data: 'first' }),
      throwError(() => new Error('secret')),
    );
  }
}

// Events

@Injectable()
class OrderListener {
  readonly seen: string[] = [];

  @OnEvent('order.*')
  handle(payload: string): void {
    this.seen.push(payload);
  }
}

@Controller({ path: 'emitted', version: '1' })
class EmittedController {
  constructor(
    private readonly emitter: EventEmitter2,
    private readonly listener: OrderListener,
  ) {}

  @Get()
  emit(): object {
    this.emitter.emit('order.created', 'created');
    return { seen: this.listener.seen };
  }
}

// Performance (Fastify)

@Controller({ path: 'fastify', version: '1' })
class FastifyController {
  @Get('config')
  @RouteConfig({ output: 'hello world' })
  config(@Req() { routeOptions }: FastifyRequest): object {
    return { output: (routeOptions.config as { output?: string }).output };
  }

  @Get('constraints')
  @RouteConstraints({ host: 'shop.example.com' })
  constraints(): object {
    return { isConstrained: true };
  }

  @Get('schema')
  @RouteSchema({ querystring: { type: 'object', required: ['size'], properties: { size: { type: 'integer' } } } })
  schema(@Query() query: Record<string, unknown>): object {
    return query;
  }
}

// WebSockets

@WebSocketGateway({ path: '/events' })
@Public()
class EventsGateway implements OnGatewayConnection {
  @WebSocketServer()
  readonly server: unknown;

  connections = 0;

  handleConnection(): void {
    this.connections++;
  }

  @SubscribeMessage('events')
  handle(@MessageBody() data: number): Observable<WsResponse<number>> {
    return of({ event: 'events', data: data + 1 });
  }
}

@WebSocketGateway({ path: '/closed' })
class ClosedGateway {
  @SubscribeMessage('events')
  handle(): void {
    throw new Error('The handler was called.');
  }
}

@Controller({ path: 'gateway', version: '1' })
class GatewayController {
  constructor(private readonly gateway: EventsGateway) {}

  @Get()
  @Public()
  get(): object {
    return { connections: this.gateway.connections, hasServer: this.gateway.server !== undefined };
  }
}

/** What the chapters Techniques and WebSockets of Nest's documentation show. */
@Module({
  imports: [PetsModule, CacheModule.register(), EventEmitterModule.forRoot({ wildcard: true })],
  controllers: [
    TasksController,
    CacheController,
    SerializationController,
    ListsController,
    CookiesController,
    SessionController,
    CompressionController,
    FilesController,
    EventsController,
    EmittedController,
    FastifyController,
    GatewayController,
  ],
  providers: [ConfigService, TasksService, FastifyPlugins, OrderListener, EventsGateway, ClosedGateway],
})
export class TechniquesModule {}
