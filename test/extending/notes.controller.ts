import { randomUUID } from 'node:crypto';
import {
  Body,
  type CanActivate,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  NotFoundException,
  Param,
  Patch,
  Post,
  Put,
  Query,
  Res,
  UseGuards,
} from '@nestjs/common';
import { ApiBadRequestResponse, ApiHeader } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsBoolean, IsNumberString, IsOptional, IsString, MaxLength, ValidateNested } from 'class-validator';
import type { FastifyReply } from 'fastify';
import { Idempotent, type Once } from '../../src/idempotency';
import { RequireScope } from '../../src/shared/http/access/require-scope.decorator';
import { Consumes } from '../../src/shared/http/server/consumes.decorator';
import { Public } from '../../src/shared/http/access/public.decorator';
import { ApiErrors } from '../../src/shared/openapi/api-errors';
import { Deprecated } from '../../src/versioning';

class LineDto {
  @IsString()
  readonly text!: string;
}

class CreateNoteDto {
  @IsString()
  @MaxLength(10)
  readonly title!: string;

  @IsBoolean()
  readonly isPinned: boolean = false;

  @IsOptional()
  @ValidateNested()
  @Type(() => LineDto)
  readonly lines?: LineDto[];
}

class ListNotesQueryDto {
  @IsNumberString()
  readonly year: string = '2026';
}

/** Declares its own errors, for all operations that it protects. */
@ApiErrors('forbidden')
class ClosedGuard implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

/** A controller as in the documentation of Nest and class-validator. */
@Controller({ path: 'notes', version: '1' })
export class NotesController {
  readonly removed: string[] = [];

  @Post()
  @HttpCode(200)
  createNote(@Body() note: CreateNoteDto): { isDto: boolean; note: CreateNoteDto } {
    return { isDto: note instanceof CreateNoteDto, note };
  }

  @Get()
  @Public()
  @ApiBadRequestResponse({ description: 'The year is none.', type: CreateNoteDto })
  listNotes(@Query() query: ListNotesQueryDto): ListNotesQueryDto {
    return query;
  }

  @Post('once')
  createNoteOnce(@Body() note: CreateNoteDto, @Idempotent() once: Once): Promise<unknown> {
    return once(() => note);
  }

  @Post('queued')
  queueNote(
    @Body() note: CreateNoteDto,
    @Idempotent() once: Once,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<unknown> {
    return once(() => {
      const change = randomUUID();
      reply
        .status(202)
        .header('etag', `"${change}"`)
        .header('set-cookie', ['a=1', 'b=2'])
        .header('x-more', note.isPinned ? 'a'.repeat(17_000) : 'a');
      return { ...note, change };
    });
  }

  @Get('labels/:label')
  @Header('Cache-Control', 'public, max-age=600')
  readLabel(@Param('label') label: string, @Res({ passthrough: true }) reply: FastifyReply): string[] {
    reply.header('x-label', label);
    if (label.startsWith('no ')) {
      throw new NotFoundException('No such label.');
    }
    return [label];
  }

  @Post('tagged')
  @ApiHeader({ name: 'Idempotency-Key' })
  createTaggedNote(@Body() note: CreateNoteDto): CreateNoteDto {
    return note;
  }

  @Put(':noteId')
  replaceNote(@Body() note: CreateNoteDto): CreateNoteDto {
    return note;
  }

  @Patch(':noteId')
  @RequireScope('write')
  @Consumes('application/json', 'application/merge-patch+json')
  changeNote(@Body() note: CreateNoteDto, @Idempotent() once: Once): Promise<unknown> {
    return once(() => ({ ...note, change: randomUUID() }));
  }

  @Delete(':noteId')
  @HttpCode(204)
  @RequireScope('write')
  removeNote(@Param('noteId') noteId: string, @Idempotent() once: Once): Promise<unknown> {
    return once(() => void this.removed.push(noteId));
  }

  @Get('closed')
  @UseGuards(ClosedGuard)
  listClosedNotes(): [] {
    return [];
  }

  @Get('old')
  @Deprecated({ since: '2026-01-01', sunset: '2031-01-01', successor: '/v1/notes', documentation: '#/notes' })
  listOldNotes(): [] {
    return [];
  }
}
