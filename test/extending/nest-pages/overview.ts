import {
  All,
  type ArgumentMetadata,
  type ArgumentsHost,
  BadGatewayException,
  BadRequestException,
  Body,
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  createParamDecorator,
  type RawBodyRequest,
  DefaultValuePipe,
  Delete,
  type ExceptionFilter,
  type ExecutionContext,
  ForbiddenException,
  Get,
  Header,
  Headers,
  HostParam,
  HttpCode,
  HttpException,
  HttpStatus,
  Inject,
  Injectable,
  Ip,
  type MiddlewareConsumer,
  Module,
  type NestInterceptor,
  type NestMiddleware,
  type NestModule,
  Optional,
  Param,
  ParseArrayPipe,
  ParseBoolPipe,
  ParseDatePipe,
  ParseEnumPipe,
  ParseFloatPipe,
  ParseIntPipe,
  ParseUUIDPipe,
  type PipeTransform,
  Post,
  Query,
  Redirect,
  Req,
  RequestMethod,
  RequestTimeoutException,
  Res,
  UnauthorizedException,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  ValidationPipe,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { IsInt, IsOptional, IsString, Validate, ValidationError, ValidatorConstraint } from 'class-validator';
import { Expose } from 'class-transformer';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { catchError, map, NEVER, type Observable, of, tap, throwError, timeout, TimeoutError } from 'rxjs';
import { Public } from '../../../src/shared/http/access/public.decorator';
import { Idempotent, type Once } from '../../../src/idempotency';
import { IsInt64 } from '../../../src/shared/http/validation/is-int64.decorator';
import { ParseInt64Pipe } from '../../../src/shared/http/validation/parse-int64.pipe';

// Controllers, providers

class CreateCatDto {
  @IsString()
  name!: string;

  @IsInt()
  age!: number;

  @IsOptional()
  @IsString()
  breed?: string;
}

interface Cat {
  id: number;
  name: string;
  age: number;
}

@Injectable()
class CatsService {
  private readonly cats: Cat[] = [];

  create({ name, age }: CreateCatDto): Cat {
    const cat = { id: this.cats.length + 1, name, age };
    this.cats.push(cat);
    return cat;
  }

  findAll(): Cat[] {
    return this.cats;
  }
}

@Controller({ path: 'cats', version: '1' })
class CatsController {
  @Inject('GREETING')
  private readonly greeting!: string;

  constructor(
    private readonly cats: CatsService,
    @Optional() @Inject('MISSING') private readonly missing = 'default',
  ) {}

  @Post()
  @Header('X-Cat', 'yes')
  create(@Body() cat: CreateCatDto): Cat {
    return this.cats.create(cat);
  }

  @Get()
  findAll(): Promise<Cat[]> {
    return Promise.resolve(this.cats.findAll());
  }

  @Get('text')
  findText(): string {
    return `${this.greeting} ${this.missing}`;
  }

  @Get('stream')
  findStream(): Observable<string[]> {
    return of(['Rex']);
  }

  @Get('status')
  status(@Res({ passthrough: true }) reply: FastifyReply): [] {
    reply.status(HttpStatus.ACCEPTED);
    return [];
  }

  @Get('native')
  native(@Res() reply: FastifyReply): void {
    void reply.status(200).send({ isNative: true });
  }

  @Get('docs')
  @Redirect('https://docs.nestjs.com', 302)
  docs(@Query('version') version?: string): { url: string } | undefined {
    return version === '5' ? { url: 'https://docs.nestjs.com/v5/' } : undefined;
  }

  @Get('abcd/*')
  wildcard(@Param('*') rest: string): { rest: string } {
    return { rest };
  }

  @Get('context')
  context(@Req() request: FastifyRequest, @Headers('x-shop') shop: string, @Ip() ip: string): object {
    return { method: request.method, shop, ip };
  }

  @Post('field')
  field(@Body('name') name: string): { name: string } {
    return { name };
  }

  @Post('request')
  request(@Req() request: FastifyRequest): unknown {
    return request.body;
  }

  @Post('items')
  items(@Body(new ParseArrayPipe({ items: CreateCatDto, whitelist: true })) cats: CreateCatDto[]): object {
    return { cats, areDtos: cats.every((cat) => cat instanceof CreateCatDto) };
  }

  @Get('wild/*')
  findWild(): string {
    return 'wild';
  }

  @All('any')
  any(@Req() { method }: FastifyRequest): { method: string } {
    return { method };
  }

  @Delete(':id')
  @HttpCode(204)
  remove(@Param() params: Record<string, string>): void {
    if (params.id === '0') {
      throw new BadRequestException();
    }
  }
}

/** As pasted: without a version, outside of /v1. */
@Controller('plain')
class PlainController {
  @Get()
  findAll(): string {
    return 'This action returns all cats';
  }
}

@Controller({ host: ':account.example.com', path: 'info', version: '1' })
class AccountController {
  @Get()
  getInfo(@HostParam('account') account: string): { account: string } {
    return { account };
  }
}

// Middleware

@Injectable()
class LoggerMiddleware implements NestMiddleware {
  constructor(private readonly cats: CatsService) {}

  use(request: IncomingMessage & { seen?: string[] }, _response: ServerResponse, next: () => void): void {
    request.seen = ['class', `${this.cats.findAll().length >= 0}`];
    next();
  }
}

function functional(request: IncomingMessage & { seen?: string[] }, _response: ServerResponse, next: () => void): void {
  request.seen?.push('function');
  next();
}

function closed(): never {
  throw new ForbiddenException('Closed by middleware.');
}

function failing(_request: IncomingMessage, _response: ServerResponse, next: (error: Error) => void): void {
  next(new Error('secret'));
}

function ending(_request: IncomingMessage, response: ServerResponse): void {
  response.statusCode = 202;
  response.end('ended');
}

@Controller({ path: 'middleware', version: '1' })
class MiddlewareController {
  @Get()
  list(@Req() { raw }: { raw: { seen?: string[] } }): { seen: string[] } {
    return { seen: raw.seen ?? [] };
  }

  @Post()
  create(@Req() { raw }: { raw: { seen?: string[] } }, @Body() body: CreateCatDto): object {
    return { seen: raw.seen ?? [], body };
  }

  @Get('excluded')
  excluded(@Req() { raw }: { raw: { seen?: string[] } }): { seen: string[] } {
    return { seen: raw.seen ?? [] };
  }

  @Get(['closed', 'failing', 'ending'])
  unreachable(): void {
    // Middleware responds.
  }
}

// Exception filters

class TeapotException extends HttpException {
  constructor() {
    super('Short and stout.', HttpStatus.I_AM_A_TEAPOT);
  }
}

@Catch(TeapotException)
class TeapotFilter implements ExceptionFilter<TeapotException> {
  catch(exception: TeapotException, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    void http
      .getResponse<FastifyReply>()
      .status(exception.getStatus())
      .send({ statusCode: exception.getStatus(), path: http.getRequest<FastifyRequest>().url });
  }
}

@Controller({ path: 'filters', version: '1' })
class FiltersController {
  @Get('bound')
  @UseFilters(new TeapotFilter())
  bound(): never {
    throw new TeapotException();
  }

  @Get('custom')
  custom(): never {
    throw new HttpException({ status: HttpStatus.FORBIDDEN, error: 'This is a custom message' }, HttpStatus.FORBIDDEN, {
      cause: new Error('secret'),
    });
  }

  @Get('described')
  described(): never {
    throw new BadRequestException('Something bad happened', { description: 'Some error description' });
  }

  @Get('validation')
  validation(): never {
    throw new BadRequestException([
      Object.assign(new ValidationError(), { target: new CreateCatDto(), property: 'age' }),
    ]);
  }

  @Get('plugin')
  plugin(): never {
    throw Object.assign(new Error('The file is too large.'), { code: 'FST_REQ_FILE_TOO_LARGE', statusCode: 413 });
  }

  @Get('late')
  late(): Observable<never> {
    return throwError(() => new ForbiddenException('Too late.'));
  }
}

// Pipes

enum Color {
  Black = 'black',
  White = 'white',
}

@Injectable()
class TrimPipe implements PipeTransform<string, string> {
  transform(value: string, metadata: ArgumentMetadata): string {
    return `${metadata.type} ${value.trim()}`;
  }
}

@Injectable()
class CatByIdPipe implements PipeTransform<string, Promise<Cat>> {
  constructor(private readonly cats: CatsService) {}

  transform(value: string): Promise<Cat> {
    const id = Number(value);
    return Promise.resolve({ id, name: `Cat of ${this.cats.findAll().length >= 0}`, age: 1 });
  }
}

class SchemaPipe implements PipeTransform {
  transform(value: unknown): unknown {
    if (typeof value !== 'object' || value === null || !('name' in value)) {
      throw new BadRequestException('Validation failed');
    }
    return value;
  }
}

@ValidatorConstraint({ async: true })
class IsFree {
  validate(name: string): Promise<boolean> {
    return Promise.resolve(name !== 'taken');
  }

  defaultMessage(): string {
    return 'name is taken';
  }
}

class ReserveDto {
  @Validate(IsFree)
  name!: string;
}

class SortDto {
  @IsOptional()
  @IsString()
  @Expose({ name: 'sort_by' })
  sortBy?: string;

  @IsOptional()
  tags: string[] = [];
}

class BigDto {
  @IsInt64()
  petId!: bigint;
}

@Controller({ path: 'pipes', version: '1' })
class PipesController {
  @Get('int/:id')
  int(@Param('id', ParseIntPipe) id: number): { id: number } {
    return { id };
  }

  @Get('status/:id')
  status(@Param('id', new ParseIntPipe({ errorHttpStatusCode: HttpStatus.NOT_ACCEPTABLE })) id: number): object {
    return { id };
  }

  @Get('many')
  many(
    @Query('price', ParseFloatPipe) price: number,
    @Query('isOpen', new DefaultValuePipe(false), ParseBoolPipe) isOpen: boolean,
    @Query('ids', new ParseArrayPipe({ items: Number, separator: ',' })) ids: number[],
    @Query('color', new ParseEnumPipe(Color)) color: Color,
    @Query('id', new ParseUUIDPipe({ version: '4', optional: true })) id: string | undefined,
    @Query('since', new ParseDatePipe({ optional: true })) since: Date | undefined,
    @Query('name', TrimPipe) name: string,
  ): object {
    return { price, isOpen, ids, color, id, since, name };
  }

  @Get('cats/:id')
  cat(@Param('id', CatByIdPipe) cat: Cat): Cat {
    return cat;
  }

  @Post('schema')
  @UsePipes(new SchemaPipe())
  schema(@Body() cat: Record<string, unknown>): unknown {
    return cat;
  }

  @Post('own')
  @UsePipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true }))
  own(@Body(new ValidationPipe({ errorHttpStatusCode: HttpStatus.UNPROCESSABLE_ENTITY })) cat: CreateCatDto): unknown {
    return cat;
  }

  @Post('async')
  reserve(@Body() body: ReserveDto): ReserveDto {
    return body;
  }

  @Post('exposed')
  exposed(@Body() { sortBy }: SortDto): object {
    return { sortBy };
  }

  @Get('sorted')
  sorted(@Query() query: SortDto): object {
    const before = { ...query, tags: [...query.tags] };
    query.sortBy = 'changed';
    query.tags.push('pushed');
    return before;
  }

  @Post('big')
  big(@Body() { petId }: BigDto): BigDto {
    return { petId };
  }

  @Get('big/:id')
  bigId(
    @Param('id', new ParseInt64Pipe({ exceptionFactory: () => new BadRequestException('id') })) id: bigint,
    @Query('after') after?: bigint,
  ): object {
    return { id, after };
  }
}

// Guards, custom decorators

export const Roles = Reflector.createDecorator<string[]>();

export const User = createParamDecorator((field: string | undefined, context: ExecutionContext): unknown => {
  const { user } = context.switchToHttp().getRequest<{ user: Record<string, unknown> }>();
  return field === undefined ? user : user[field];
});

@Injectable()
export class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest & { user?: unknown }>();
    const { 'x-roles': roles = '', 'x-name': name } = request.headers;
    if (name === 'nobody') {
      throw new UnauthorizedException();
    }
    request.user = { name, roles };
    const required = this.reflector.get(Roles, context.getHandler()) as string[] | undefined;
    return required?.some((role) => roles.includes(role)) ?? true;
  }
}

/** Reads the body. */
@Injectable()
class RexGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { body, rawBody } = context
      .switchToHttp()
      .getRequest<RawBodyRequest<FastifyRequest<{ Body: CreateCatDto }>>>();
    return body.name === 'Rex' && rawBody?.includes('Rex') === true;
  }
}

@Controller({ path: 'guards', version: '1' })
@UseGuards(RolesGuard)
class GuardsController {
  @Get()
  @Roles(['admin'])
  list(@User() user: object, @User('name', new ParseIntPipe({ optional: true })) name?: number): object {
    return { user, name };
  }

  @Post()
  @UseGuards(RexGuard)
  create(@Body() body: CreateCatDto): CreateCatDto {
    return body;
  }
}

// Interceptors

@Injectable()
class LoggingInterceptor implements NestInterceptor {
  static readonly lines: string[] = [];

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    LoggingInterceptor.lines.push(`before ${context.getHandler().name}`);
    return next.handle().pipe(tap(() => LoggingInterceptor.lines.push('after')));
  }
}

@Injectable()
class TransformInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data: unknown) => ({ data: data ?? '' })));
  }
}

@Injectable()
class ErrorsInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(catchError(() => throwError(() => new BadGatewayException())));
  }
}

@Injectable()
class CacheInterceptor implements NestInterceptor {
  intercept(): Observable<unknown> {
    return of(['cached']);
  }
}

@Injectable()
class TimeoutInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      timeout(1),
      catchError((error: unknown) =>
        throwError(() => (error instanceof TimeoutError ? new RequestTimeoutException() : (error as Error))),
      ),
    );
  }
}

@Controller({ path: 'interceptors', version: '1' })
class InterceptorsController {
  @Get('transform')
  @UseInterceptors(LoggingInterceptor, TransformInterceptor)
  transform(): object {
    return { lines: [...LoggingInterceptor.lines] };
  }

  @Post('once')
  @UseInterceptors(TransformInterceptor)
  once(@Idempotent() once: Once): Promise<unknown> {
    return once(() => ({ id: 2n ** 63n - 1n }));
  }

  @Get('errors')
  @UseInterceptors(ErrorsInterceptor)
  errors(): never {
    throw new Error('secret');
  }

  @Get('cache')
  @UseInterceptors(CacheInterceptor)
  cache(): never {
    throw new Error('The handler was called.');
  }

  @Get('timeout')
  @UseInterceptors(TimeoutInterceptor)
  timeout(): Observable<never> {
    return NEVER;
  }
}

@Controller()
@Public()
class AppController {
  @Get()
  getHello(): string {
    return 'Hello World!';
  }
}

/** What the chapter Overview of Nest's documentation shows. */
@Module({
  controllers: [
    AppController,
    CatsController,
    PlainController,
    AccountController,
    MiddlewareController,
    FiltersController,
    PipesController,
    GuardsController,
    InterceptorsController,
  ],
  providers: [CatsService, { provide: 'GREETING', useValue: 'Hello,' }],
  exports: [CatsService],
})
export class OverviewModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply(LoggerMiddleware, functional)
      .exclude({ path: 'v1/middleware/excluded', method: RequestMethod.GET })
      .forRoutes(MiddlewareController);
    consumer.apply(closed).forRoutes({ path: 'v1/middleware/closed', method: RequestMethod.GET });
    consumer.apply(failing).forRoutes('v1/middleware/failing');
    consumer.apply(ending).forRoutes('v1/middleware/endin{*g}');
  }
}
