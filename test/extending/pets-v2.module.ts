import {
  Body,
  Controller,
  Get,
  Module,
  NotFoundException,
  Param,
  Post,
  Query,
  Res,
  Version,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Settings } from '../../src/config/settings';
import { Idempotent, type Once } from '../../src/idempotency';
import { PetsModule, PetsService } from '../../src/pets';
import { PageQueryDto } from '../../src/shared/http/pagination/page-query.dto';
import { decodePageCursor, setNextLink } from '../../src/shared/http/pagination/pagination';
import { getBaseUrl } from '../../src/shared/http/routing/base-url';
import { IsInt64 } from '../../src/shared/http/validation/is-int64.decorator';
import { IsText } from '../../src/shared/http/validation/is-text.decorator';
import { ParseInt64Pipe } from '../../src/shared/http/validation/parse-int64.pipe';
import { ApiErrors } from '../../src/shared/openapi/api-errors';
import { ApiGroup } from '../../src/shared/openapi/api-group.decorator';
import { LINK_NEXT_HEADER, LOCATION_HEADER } from '../../src/shared/openapi/api-headers';
import { createInt64Schema } from '../../src/shared/openapi/int64-schema';
import { Deprecated } from '../../src/versioning';

@ApiSchema({ name: 'NewPet' })
class CreatePetDto {
  @ApiProperty({ example: 'Rex' })
  @IsText({ maxLength: 255 })
  readonly title!: string;

  @ApiProperty({ example: 3 })
  @IsInt64()
  readonly categoryId!: bigint;
}

/** Has the name of the schema of version 1, and other fields. */
@ApiSchema({ name: 'Pet' })
class PetDto {
  @ApiProperty(createInt64Schema(1n))
  readonly id: bigint;

  @ApiProperty({ type: 'string', maxLength: 255 })
  readonly title: string;

  constructor({ id, name }: { readonly id: bigint; readonly name: string }) {
    this.id = id;
    this.title = name;
  }
}

const parsePetId = new ParseInt64Pipe({ exceptionFactory: () => new NotFoundException() });

/** The controller and its handlers have the names of those of version 1. */
@ApiGroup('pets', 'The animals of the store, with titles.')
@Controller({ path: 'pets', version: '2' })
export class PetsController {
  constructor(
    private readonly pets: PetsService,
    private readonly settings: Settings,
  ) {}

  @Get()
  @ApiOkResponse({ type: [PetDto], headers: LINK_NEXT_HEADER })
  @ApiErrors('invalid_parameter', 'invalid_cursor')
  async listPets(@Query() query: PageQueryDto, @Res({ passthrough: true }) reply: FastifyReply): Promise<PetDto[]> {
    const { limit } = query;
    const page = await this.pets.list({ status: undefined, after: decodePageCursor(query, ''), limit });
    setNextLink(reply, `${getBaseUrl(this.settings, reply.request)}/pets`, query, '', page.next);
    return page.items.map((pet) => new PetDto(pet));
  }

  @Post()
  @ApiCreatedResponse({ type: PetDto, headers: LOCATION_HEADER })
  @ApiErrors('invalid_json', 'invalid_body', 'body_too_large', 'unsupported_media_type')
  createPet(
    @Body() { title, categoryId }: CreatePetDto,
    @Idempotent() once: Once,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return once(async () => {
      const pet = await this.pets.add({ name: title, categoryId, status: 'available' });
      reply.header('location', `${getBaseUrl(this.settings, reply.request)}/pets/${pet.id}`);
      return new PetDto(pet);
    });
  }

  @Get(':petId')
  @ApiOkResponse({ type: PetDto })
  @ApiErrors('pet_not_found')
  async getPet(@Param('petId', parsePetId) petId: bigint): Promise<PetDto> {
    return new PetDto(await this.pets.get(petId));
  }
}

@ApiGroup('names', 'The names of the animals.')
@Controller({ path: 'pets/:petId/name', version: '1' })
class NamesController {
  constructor(private readonly pets: PetsService) {}

  @Get()
  @Deprecated({
    since: '2027-01-01',
    sunset: '2031-01-01',
    successor: '/v2/pets/{petId}',
    documentation: '#/names/getName',
  })
  async getName(@Param('petId', parsePetId) petId: bigint): Promise<{ name: string }> {
    const { name } = await this.pets.get(petId);
    return { name };
  }
}

/** Remains the same in both versions, except for one operation. */
@Controller({ path: 'shelves', version: ['1', '2'] })
class ShelvesController {
  @Get()
  @Deprecated({ since: '2027-01-01', sunset: '2031-01-01', successor: '/v2/pets', documentation: '#/shelves' })
  listShelves(@Query() query: PageQueryDto, @Res({ passthrough: true }) reply: FastifyReply): [] {
    setNextLink(reply, '/v2/shelves', query, '', query.limit === 1 ? 1n : undefined);
    return [];
  }

  @Get('new')
  @Version('2')
  listNewShelves(): [] {
    return [];
  }
}

@Controller({ path: 'racks', version: '1' })
class RacksController {
  @Get()
  listRacks(): [] {
    return [];
  }
}

/** Inherits the handlers of version 1. */
@Controller({ path: 'racks', version: '2' })
class RacksV2Controller extends RacksController {
  @Get('empty')
  @ApiErrors('forbidden')
  listEmptyRacks(): [] {
    return [];
  }
}

@Controller({ path: 'weather', version: VERSION_NEUTRAL })
class WeatherController {
  @Get()
  getWeather(): { weather: string } {
    return { weather: 'fine' };
  }
}

/** A module that a team adds to open version 2. */
@Module({
  imports: [PetsModule],
  controllers: [
    PetsController,
    NamesController,
    ShelvesController,
    RacksV2Controller,
    RacksController,
    WeatherController,
  ],
})
export class PetsV2Module {}
