import {
  BadRequestException,
  Body,
  ConflictException,
  Controller,
  Get,
  Injectable,
  Module,
  NotFoundException,
  Param,
  Patch,
  Post,
  Query,
  Res,
} from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Counter, Registry } from 'prom-client';
import { integer } from '../../src/config/formats';
import { declareSettings, Settings } from '../../src/config/settings';
import { addLogFields, ObservabilityModule } from '../../src/observability';
import { PageQueryDto } from '../../src/shared/http/pagination/page-query.dto';
import { decodePageCursor, serializeFilters, setNextLink } from '../../src/shared/http/pagination/pagination';
import { AtLeastOneField } from '../../src/shared/http/validation/at-least-one-field.decorator';
import { IsDateTime } from '../../src/shared/http/validation/is-date-time.decorator';
import { IsInt64 } from '../../src/shared/http/validation/is-int64.decorator';
import { IsText } from '../../src/shared/http/validation/is-text.decorator';
import { IsUndefinable } from '../../src/shared/http/validation/is-undefinable.decorator';
import { ParseInt64Pipe } from '../../src/shared/http/validation/parse-int64.pipe';
import { ApiErrors } from '../../src/shared/openapi/api-errors';
import { LINK_NEXT_HEADER } from '../../src/shared/openapi/api-headers';
import { createInt64Schema } from '../../src/shared/openapi/int64-schema';
import { TypeOrmUnitOfWork } from '../../src/shared/persistence/typeorm-unit-of-work';
import { convertViolation } from '../../src/shared/persistence/constraint-violation';

const HOUR_MS = 3_600_000;
const NOTE_MAX_LENGTH = 20;

/** The visits of one animal never overlap. */
export const CREATE_VISITS = `
  CREATE TABLE visits (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    pet_id bigint NOT NULL REFERENCES pets (id),
    starts_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    note text,
    CONSTRAINT visits_ends_after_start CHECK (ends_at > starts_at),
    CONSTRAINT visits_no_overlap
      EXCLUDE USING gist (int8range(pet_id, pet_id, '[]') WITH &&, tstzrange(starts_at, ends_at) WITH &&)
  )`;

export const VISIT_SETTINGS = declareSettings({
  maxHours: ['VISIT_MAX_HOURS', integer(1, 24), 8, 'longest visit in hours'],
});

class CreateVisitDto {
  @ApiProperty({ description: 'Identifier of the animal.', example: 1 })
  @IsInt64()
  readonly petId!: bigint;

  @ApiProperty({ description: 'When the visit starts (RFC 3339).', example: '2026-12-24T09:00:00Z' })
  @IsDateTime()
  readonly startsAt!: Date;

  @ApiProperty({ description: 'When the visit ends (RFC 3339).', example: '2026-12-24T10:00:00Z' })
  @IsDateTime()
  readonly endsAt!: Date;

  @ApiPropertyOptional({ description: 'Purpose of the visit.', example: 'Vaccination' })
  @IsUndefinable()
  @IsText({ maxLength: NOTE_MAX_LENGTH })
  readonly note?: string;
}

@AtLeastOneField({ name: 'VisitChange', description: 'What to change.' })
class ChangeVisitDto {
  @ApiPropertyOptional({ description: 'When the visit ends (RFC 3339).', example: '2026-12-24T11:00:00Z' })
  @IsUndefinable()
  @IsDateTime()
  readonly endsAt?: Date;

  @ApiPropertyOptional({ description: 'Purpose of the visit.', example: 'Vaccination' })
  @IsUndefinable()
  @IsText({ maxLength: NOTE_MAX_LENGTH })
  readonly note?: string;
}

class ListVisitsQueryDto extends PageQueryDto {
  @ApiPropertyOptional({ description: 'Return only visits that start then or later.', example: '2026-12-24T00:00:00Z' })
  @IsUndefinable()
  @IsDateTime()
  readonly from?: Date;

  @ApiPropertyOptional({ description: 'Return only visits that start before.', example: '2026-12-25T00:00:00Z' })
  @IsUndefinable()
  @IsDateTime()
  readonly to?: Date;
}

interface Visit {
  readonly id: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
  readonly note: string | null;
}

/** The visit as clients see it. */
class VisitDto {
  @ApiProperty(createInt64Schema(1n))
  readonly id: bigint;

  @ApiProperty({ type: 'string', format: 'date-time' })
  readonly startsAt: string;

  @ApiProperty({ type: 'string', format: 'date-time' })
  readonly endsAt: string;

  @ApiPropertyOptional({ type: 'string' })
  readonly note: string | undefined;

  constructor({ id, startsAt, endsAt, note }: Visit) {
    this.id = BigInt(id);
    this.startsAt = startsAt.toISOString();
    this.endsAt = endsAt.toISOString();
    this.note = note ?? undefined;
  }
}

const VIOLATIONS = {
  visits_no_overlap: () => new ConflictException('The animal has a visit at that time.'),
  visits_ends_after_start: () => new BadRequestException('A visit ends after it starts.'),
  visits_pet_id_fkey: () => new BadRequestException('No animal has this petId.'),
};

const COLUMNS = 'id, starts_at AS "startsAt", ends_at AS "endsAt", note';

@Injectable()
export class VisitsService {
  private readonly createdVisits: Counter;
  private readonly maxHours: number;

  constructor(
    private readonly unitOfWork: TypeOrmUnitOfWork,
    registry: Registry,
    settings: Settings,
  ) {
    this.maxHours = settings.get(VISIT_SETTINGS).maxHours;
    this.createdVisits = new Counter({
      name: 'petstore_visits_total',
      help: 'Visits created.',
      registers: [registry],
    });
  }

  async create({ petId, startsAt, endsAt, note }: CreateVisitDto): Promise<Visit> {
    if (endsAt.getTime() - startsAt.getTime() > this.maxHours * HOUR_MS) {
      throw new BadRequestException(`A visit takes at most ${this.maxHours} hours.`);
    }
    const visit = await this.unitOfWork.run(async () => {
      // Visits of one animal are inserted one at a time: otherwise, they would wait for each other in the exclusion constraint and deadlock.
      await this.unitOfWork.manager.query('SELECT FROM pets WHERE id = $1 FOR NO KEY UPDATE', [petId.toString()]);
      return this.insert([petId.toString(), startsAt, endsAt, note]);
    });
    this.createdVisits.inc();
    return visit;
  }

  async insert(values: readonly unknown[]): Promise<Visit> {
    const sql = `INSERT INTO visits (pet_id, starts_at, ends_at, note) VALUES ($1, $2, $3, $4) RETURNING ${COLUMNS}`;
    const { manager } = this.unitOfWork;
    const [visit] = await convertViolation(() => manager.query<[Visit]>(sql, [...values]), VIOLATIONS);
    return visit;
  }

  async change(id: bigint, { endsAt, note }: ChangeVisitDto): Promise<Visit> {
    const sql = `UPDATE visits SET ends_at = coalesce($2, ends_at), note = coalesce($3, note) WHERE id = $1 RETURNING ${COLUMNS}`;
    const [[changed]] = await convertViolation(
      () => this.unitOfWork.manager.query<[Visit[], number]>(sql, [id.toString(), endsAt, note]),
      VIOLATIONS,
    );
    if (changed === undefined) {
      throw new NotFoundException();
    }
    return changed;
  }

  list(from: Date | undefined, to: Date | undefined, after: bigint, limit: number): Promise<Visit[]> {
    return this.unitOfWork.manager.query<Visit[]>(
      `SELECT ${COLUMNS} FROM visits
       WHERE id > $1 AND starts_at >= coalesce($2::timestamptz, '-infinity') AND starts_at < coalesce($3::timestamptz, 'infinity')
       ORDER BY id LIMIT $4`,
      [after.toString(), from, to, limit],
    );
  }
}

const ADDRESS = '/v1/visits';

@Controller({ path: 'visits', version: '1' })
export class VisitsController {
  constructor(private readonly visits: VisitsService) {}

  @Post()
  @ApiCreatedResponse({
    type: VisitDto,
    headers: { 'X-Room': { description: 'Where to wait.', schema: { type: 'string', maxLength: 1 } } },
  })
  @ApiErrors('invalid_json', 'invalid_body', 'bad_request', 'conflict', 'body_too_large', 'unsupported_media_type')
  async createVisit(@Body() body: CreateVisitDto, @Res({ passthrough: true }) reply: FastifyReply): Promise<VisitDto> {
    const visit = await this.visits.create(body);
    addLogFields(reply.request, { visitId: visit.id, petId: body.petId });
    reply.header('x-room', 'A');
    return new VisitDto(visit);
  }

  @Patch(':visitId')
  @ApiOkResponse({ type: VisitDto })
  @ApiErrors(
    'invalid_json',
    'invalid_body',
    'bad_request',
    'not_found',
    'conflict',
    'body_too_large',
    'unsupported_media_type',
  )
  async changeVisit(
    @Param('visitId', new ParseInt64Pipe({ exceptionFactory: () => new NotFoundException() })) id: bigint,
    @Body() body: ChangeVisitDto,
  ): Promise<VisitDto> {
    return new VisitDto(await this.visits.change(id, body));
  }

  @Get()
  @ApiOkResponse({ type: [VisitDto], headers: LINK_NEXT_HEADER })
  @ApiErrors('invalid_parameter', 'invalid_cursor')
  async listVisits(
    @Query() query: ListVisitsQueryDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<VisitDto[]> {
    const { from, to, limit } = query;
    const filters = serializeFilters({ from, to });
    const found = await this.visits.list(from, to, decodePageCursor(query, filters), limit + 1);
    const page = found.slice(0, limit).map((visit) => new VisitDto(visit));
    setNextLink(reply, ADDRESS, query, filters, found.length > limit ? page.at(-1)?.id : undefined);
    return page;
  }
}

/** A module that a team adds, in one file: visits for animals, of which no two of one animal overlap. */
@Module({
  imports: [ObservabilityModule],
  controllers: [VisitsController],
  providers: [VisitsService],
})
export class VisitsModule {}
