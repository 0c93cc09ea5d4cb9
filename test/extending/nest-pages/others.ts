import { AsyncLocalStorage } from 'node:async_hooks';
import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  Param,
  Post,
  Query,
  Req,
  Type,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { Command, CommandBus, CommandHandler, CqrsModule, type ICommandHandler } from '@nestjs/cqrs';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import {
  ApiBearerAuth,
  ApiBody,
  ApiExtraModels,
  ApiHeader,
  ApiLink,
  ApiOkResponse,
  ApiOperation,
  ApiProperty,
  ApiResponse,
  getSchemaPath,
  IntersectionType,
  OmitType,
  PartialType,
  PickType,
} from '@nestjs/swagger';
import { SkipThrottle, Throttle } from '@nestjs/throttler';
import { IsInt, IsString } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { ClsModule, ClsService } from 'nestjs-cls';
import { Strategy } from 'passport-http-bearer';
import type { Principal } from '../../../src/shared/domain/principal';
import { Public } from '../../../src/shared/http/access/public.decorator';
import { createPrincipal } from '../../support/principal';

// Security: authentication, rate limiting

@Injectable()
class OwnAuthGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest & { user?: object }>();
    if (request.headers.authorization !== 'Basic cmV4') {
      throw new UnauthorizedException();
    }
    request.user = { name: 'rex' };
    return true;
  }
}

@Injectable()
class PartnerStrategy extends PassportStrategy(Strategy, 'partner') {
  validate(token: string): Principal | false {
    return token === 'partner' && createPrincipal(8n, -8n, 100, 1_000);
  }
}

@Controller({ path: 'profile', version: '1' })
@Public()
class ProfileController {
  @Get()
  @UseGuards(OwnAuthGuard)
  getProfile(): object {
    return { name: 'rex' };
  }

  @Get('account')
  @UseGuards(AuthGuard(['bearer', 'partner']))
  getAccount(@Req() { user }: FastifyRequest & { user: Principal }): object {
    return { id: user.accountId };
  }

  @Post()
  @UseGuards(OwnAuthGuard)
  setProfile(@Body() body: unknown): unknown {
    return body;
  }
}

@Controller({ path: 'throttled', version: '1' })
class ThrottledController {
  @Get()
  @Throttle({ default: { limit: 3, ttl: 60_000 } })
  limited(): [] {
    return [];
  }

  @Get('several')
  @Throttle({ short: { limit: 2, ttl: 1_000 }, long: { limit: 3, ttl: 60_000 } })
  severalLimits(): [] {
    return [];
  }

  @Get('skipped')
  @SkipThrottle()
  skipped(): [] {
    return [];
  }
}

function createController(path: string, version = '1'): Type<object> {
  @Controller({ path, version })
  class MadeController {
    @Get()
    @Throttle({ default: { limit: 3, ttl: 60_000 } })
    listMade(): [] {
      return [];
    }
  }
  return MadeController;
}

// OpenAPI

class ToyDto {
  @ApiProperty({ example: 'Ball' })
  @IsString()
  name!: string;

  @ApiProperty({ example: 3 })
  @IsInt()
  price!: number;
}

class ColorDto {
  @ApiProperty({ example: 'red' })
  @IsString()
  color!: string;
}

class UpdateToyDto extends PartialType(ToyDto) {}

class ColoredToyDto extends IntersectionType(PickType(ToyDto, ['name'] as const), ColorDto) {}

class NamelessToyDto extends OmitType(ToyDto, ['name'] as const) {}

class NodeDto {
  @ApiProperty()
  @IsString()
  name!: string;

  @ApiProperty({ type: () => [NodeDto] })
  children!: NodeDto[];
}

class PageDto<T> {
  @ApiProperty()
  total!: number;

  results!: T[];
}

@Controller({ path: 'toys', version: '1' })
@ApiExtraModels(PageDto, ToyDto)
class ToysController {
  @Post()
  @ApiOperation({ summary: 'Add a toy', operationId: 'addToy' })
  @ApiBody({ type: ToyDto, description: 'The toy', examples: { ball: { value: { name: 'Ball', price: 3 } } } })
  @ApiResponse({ status: 201, description: 'The toy was added.', type: ToyDto })
  create(@Body() toy: ToyDto): ToyDto {
    return toy;
  }

  @Post('updated')
  update(@Body() toy: UpdateToyDto): UpdateToyDto {
    return toy;
  }

  @Post('colored')
  color(@Body() toy: ColoredToyDto): ColoredToyDto {
    return toy;
  }

  @Post('nameless')
  nameless(@Body() toy: NamelessToyDto): NamelessToyDto {
    return toy;
  }

  @Get('named/:name')
  @ApiLink({ from: ToyDto, fromField: 'name', routeParam: 'name' })
  findNamed(@Param('name') name: string): string {
    return name;
  }

  @Get('titled')
  @ApiBearerAuth()
  @ApiOkResponse({ schema: { title: 'ToyDto', type: 'string' } })
  titled(): string {
    return 'a ball';
  }

  @Get('tree')
  @ApiOkResponse({ type: NodeDto })
  tree(): NodeDto {
    return { name: 'root', children: [] };
  }

  @Get('page')
  @ApiHeader({ name: 'X-Toy' })
  @ApiOkResponse({
    schema: {
      allOf: [
        { $ref: getSchemaPath(PageDto) },
        { properties: { results: { type: 'array', items: { $ref: getSchemaPath(ToyDto) } } } },
      ],
    },
  })
  page(@Query('limit') limit: number): PageDto<ToyDto> {
    return { total: limit, results: [] };
  }

  @Get('report')
  @ApiResponse({ status: 200, content: { 'text/csv': {} } })
  @ApiResponse({ status: 'default', description: 'Anything else.' })
  report(): string {
    return 'name,price';
  }
}

/** Handlers of one name, in controllers that share a base class. */
function createCrudController(path: string): Type<{ findOne(id: string): object }> {
  class BaseController {
    @Get(':id')
    findOne(@Param('id') id: string): object {
      return { path, id };
    }
  }
  return BaseController;
}

@Controller({ path: 'balls', version: '1' })
class BallsController extends createCrudController('balls') {}

@Controller({ path: 'bones', version: '1' })
class BonesController extends createCrudController('bones') {}

// Recipes: CQRS, asynchronous local storage

class FeedCommand extends Command<{ readonly fed: string }> {
  constructor(readonly name: string) {
    super();
  }
}

@CommandHandler(FeedCommand)
class FeedHandler implements ICommandHandler<FeedCommand> {
  execute({ name }: FeedCommand): Promise<{ fed: string }> {
    return Promise.resolve({ fed: name });
  }
}

const OWN_STORAGE = new AsyncLocalStorage<{ readonly tenant: string }>();

@Controller({ path: 'recipes', version: '1' })
class RecipesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly cls: ClsService,
  ) {}

  @Post('feed')
  feed(@Body('name') name: string): Promise<{ fed: string }> {
    return this.commands.execute(new FeedCommand(name));
  }

  @Post('storage')
  async storage(@Body() body: unknown): Promise<object> {
    await Promise.resolve();
    return { cls: this.cls.get<string>('tenant'), own: OWN_STORAGE.getStore()?.tenant, body };
  }
}

/** What the chapters Security, OpenAPI and Recipes of Nest's documentation show. */
@Module({
  imports: [
    CqrsModule.forRoot(),
    ClsModule.forRoot({
      global: true,
      middleware: {
        mount: true,
        setup: (cls, request: { headers: Record<string, string> }) => {
          cls.set('tenant', request.headers['x-tenant']);
        },
      },
    }),
  ],
  controllers: [
    ProfileController,
    ThrottledController,
    createController('made-1'),
    createController('made-1', '2'),
    createController('made-2'),
    ToysController,
    BallsController,
    BonesController,
    RecipesController,
  ],
  providers: [FeedHandler, PartnerStrategy],
})
export class OthersModule implements NestModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply((request: { headers: Record<string, string> }, _response: unknown, next: () => void) => {
        OWN_STORAGE.run({ tenant: request.headers['x-tenant'] ?? '' }, next);
      })
      .forRoutes('{*path}');
  }
}
