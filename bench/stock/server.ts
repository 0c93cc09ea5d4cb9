import 'reflect-metadata';
import {
  Body,
  Controller,
  Get,
  Injectable,
  Module,
  NotFoundException,
  Param,
  Post,
  Query,
  UseGuards,
  ValidationPipe,
} from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { AuthGuard, PassportModule, PassportStrategy } from '@nestjs/passport';
import { ThrottlerGuard, ThrottlerModule, type ThrottlerStorage } from '@nestjs/throttler';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Length, Max, Min } from 'class-validator';
import { Redis } from 'ioredis';
import { Strategy } from 'passport-http-bearer';
import { Column, DataSource, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { hashSecret } from '../../src/auth/api-key-secret';

/**
 * The usual NestJS setup for the same work: Express, `repository.find`, `ValidationPipe` with class-transformer, the throttler with Redis
 * storage, and the bearer strategy with a lookup per request.
 */
const { PORT = '', DATABASE_URL = '', REDIS_URL = '' } = process.env;
const STATUSES = ['available', 'pending', 'sold'];

@Entity('pets')
class PetRow {
  @PrimaryGeneratedColumn({ type: 'bigint' }) id!: string;
  @Column('text') name!: string;
  @Column('bigint', { name: 'category_id' }) categoryId!: string;
  @Column('text') status!: string;
}

@Entity('api_keys')
class KeyRow {
  @PrimaryGeneratedColumn({ type: 'bigint' }) id!: string;
  @Column('bytea') hash!: Buffer;
}

class ListQuery {
  @IsInt() @Min(1) @Max(100) @Type(() => Number) limit = 20;
  @IsOptional() @IsIn(STATUSES) status?: string;
}

class NewPetBody {
  @IsString() @Length(1, 255) name!: string;
  @IsInt() categoryId!: number;
  @IsIn(STATUSES) status = 'available';
}

@Injectable()
class BearerStrategy extends PassportStrategy(Strategy) {
  constructor(private readonly database: DataSource) {
    super();
  }

  validate(token: string): Promise<KeyRow | null> {
    return this.database.getRepository(KeyRow).findOneBy({ hash: hashSecret(token) });
  }
}

@Controller('v1/pets')
@UseGuards(AuthGuard('bearer'))
class PetsController {
  constructor(private readonly database: DataSource) {}

  @Get()
  list(@Query() { limit, status }: ListQuery): Promise<PetRow[]> {
    return this.pets.find({ where: status ? { status } : {}, order: { id: 'ASC' }, take: limit });
  }

  @Post()
  create(@Body() body: NewPetBody): Promise<PetRow> {
    return this.pets.save({ ...body, categoryId: `${body.categoryId}` });
  }

  @Get(':petId')
  async get(@Param('petId') id: string): Promise<PetRow> {
    const pet = await this.pets.findOneBy({ id });
    if (pet === null) {
      throw new NotFoundException();
    }
    return pet;
  }

  private get pets() {
    return this.database.getRepository(PetRow);
  }
}

const THROTTLERS = [
  { name: 'minute', limit: 1_000_000_000, ttl: 60_000 },
  { name: 'day', limit: 1_000_000_000, ttl: 86_400_000 },
];
const redis = new Redis(REDIS_URL);
const INCREMENT = `
  local used = redis.call('INCR', KEYS[1])
  if used == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
  return {used, redis.call('PTTL', KEYS[1])}`;
const storage: ThrottlerStorage = {
  async increment(key, ttl, limit) {
    const [totalHits, left] = (await redis.eval(INCREMENT, 1, `stock:${key}`, ttl)) as [number, number];
    const timeToExpire = Math.ceil(left / 1_000);
    const isBlocked = totalHits > limit;
    return { totalHits, timeToExpire, isBlocked, timeToBlockExpire: isBlocked ? timeToExpire : 0 };
  },
};

@Module({
  imports: [PassportModule, ThrottlerModule.forRoot({ storage, throttlers: THROTTLERS })],
  controllers: [PetsController],
  providers: [
    BearerStrategy,
    { provide: APP_GUARD, useClass: ThrottlerGuard },
    {
      provide: DataSource,
      useFactory: () =>
        new DataSource({
          type: 'postgres',
          url: DATABASE_URL,
          entities: [PetRow, KeyRow],
          poolSize: 10,
          // Otherwise, its connections would all end ten seconds after its load, during that of another system.
          extra: { idleTimeoutMillis: 0 },
        }).initialize(),
    },
  ],
})
class StockModule {}

void NestFactory.create(StockModule, { logger: ['error'] }).then(async (app) => {
  app.useGlobalPipes(new ValidationPipe({ transform: true }));
  await app.listen(Number(PORT), '127.0.0.1');
});
