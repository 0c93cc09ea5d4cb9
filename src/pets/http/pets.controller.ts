import { Body, Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiParam, getSchemaPath } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Settings } from '../../config/settings';
import { Idempotent, type Once } from '../../idempotency';
import { mapItems } from '../../shared/domain/page';
import { MAX_PAGE_LIMIT } from '../../shared/domain/page-limit';
import { ApiErrors } from '../../shared/openapi/api-errors';
import { ApiGroup } from '../../shared/openapi/api-group.decorator';
import { LINK_NEXT_HEADER, LOCATION_HEADER } from '../../shared/openapi/api-headers';
import { createInt64Schema } from '../../shared/openapi/int64-schema';
import { decodePageCursor, serializeFilters, setNextLink } from '../../shared/http/pagination/pagination';
import { getBaseUrl } from '../../shared/http/routing/base-url';
import { RequireScope } from '../../shared/http/access/require-scope.decorator';
import { ParseInt64Pipe } from '../../shared/http/validation/parse-int64.pipe';
import { Deprecated } from '../../versioning';
import { PetNotFoundError } from '../domain/pet-errors';
import { PetsService } from '../pets.service';
import { CreatePetDto } from './create-pet.dto';
import { ListPetsQueryDto } from './list-pets.dto';
import { PetDto } from './pet.dto';

@ApiGroup('pets', 'The animals of the store.')
@Controller({ path: 'pets', version: '1' })
export class PetsController {
  constructor(
    private readonly pets: PetsService,
    private readonly settings: Settings,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'List animals',
    description:
      'Returns animals by ascending `id`, one page at a time. If there are more, the `Link` header contains the URL of the next ' +
      'page: request it unchanged, until a response has none. ' +
      'Pagination is stable under inserts: no animal is repeated, and none that existed when the first page was requested is skipped.',
  })
  @ApiOkResponse({
    description: 'A page of animals.',
    headers: LINK_NEXT_HEADER,
    schema: { title: 'Pets', type: 'array', maxItems: MAX_PAGE_LIMIT, items: { $ref: getSchemaPath(PetDto) } },
  })
  @ApiErrors('invalid_parameter', 'invalid_cursor')
  async listPets(@Query() query: ListPetsQueryDto, @Res({ passthrough: true }) reply: FastifyReply): Promise<PetDto[]> {
    const { status, limit } = query;
    const filters = serializeFilters({ status });
    const page = await this.pets.list({ status, after: decodePageCursor(query, filters), limit });
    setNextLink(reply, `${getBaseUrl(this.settings, reply.request)}/pets`, query, filters, page.next);
    return mapItems(page.items, PetDto);
  }

  @Post()
  @RequireScope('write')
  @ApiOperation({
    summary: 'Add an animal',
    description:
      'Stores an animal and returns it with the `id` that the service assigned, and its URL in `Location`. ' +
      'Unknown fields, and an `id` in the body, are ignored. To retry the request safely, send an `Idempotency-Key`.',
  })
  @ApiCreatedResponse({ description: 'The stored animal.', headers: LOCATION_HEADER, type: PetDto })
  @ApiErrors('invalid_json', 'invalid_body', 'body_too_large', 'unsupported_media_type')
  createPet(
    @Body() body: CreatePetDto,
    @Idempotent() once: Once,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return once(async () => {
      const pet = await this.pets.add(body);
      reply.header('location', `${getBaseUrl(this.settings, reply.request)}/pets/${pet.id}`);
      return new PetDto(pet);
    });
  }

  @Get(':petId')
  @Deprecated({
    since: '2026-11-21',
    sunset: '2030-12-05',
    successor: '/v1/pets',
    documentation: '#/pets/getPet',
  })
  @ApiOperation({
    summary: 'Get an animal',
    description:
      'Returns one animal by its `id`. Deprecated, to be removed on 2030-12-05: use `GET /pets` with the `status` ' +
      'filter instead. The response headers `Deprecation`, `Sunset` and `Link` announce this too.',
  })
  @ApiParam({
    name: 'petId',
    description: 'Identifier of the animal.',
    schema: { ...createInt64Schema(1n), example: 1 },
  })
  @ApiOkResponse({ description: 'The animal.', type: PetDto })
  @ApiErrors('pet_not_found')
  async getPet(
    @Param('petId', new ParseInt64Pipe({ exceptionFactory: () => new PetNotFoundError() })) petId: bigint,
  ): Promise<PetDto> {
    return new PetDto(await this.pets.get(petId));
  }
}
