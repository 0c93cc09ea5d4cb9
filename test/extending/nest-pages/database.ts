import { readFile } from 'node:fs/promises';
import { Controller, Delete, Get, HttpCode, Injectable, Module, Param, ParseIntPipe, Post } from '@nestjs/common';
import { InjectDataSource, InjectEntityManager, InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import {
  Column,
  DataSource,
  Entity,
  EntityManager,
  type EntitySubscriberInterface,
  EventSubscriber,
  type InsertEvent,
  ManyToOne,
  type MigrationInterface,
  OneToMany,
  PrimaryGeneratedColumn,
  type QueryRunner,
  Repository,
  VirtualColumn,
} from 'typeorm';

@Entity()
export class User {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  firstName!: string;

  @Column({ default: true })
  isActive!: boolean;

  @VirtualColumn({ query: (alias) => `SELECT count(*)::integer FROM media.photo WHERE "userId" = ${alias}.id` })
  photoCount!: number;

  @OneToMany(() => Photo, (photo) => photo.user)
  photos!: Photo[];
}

@Entity({ schema: 'media' })
export class Photo {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @ManyToOne(() => User, (user) => user.photos)
  user!: User;
}

export class CreateUsers1796000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE "user" (
        "id" serial PRIMARY KEY, "firstName" character varying NOT NULL, "isActive" boolean NOT NULL DEFAULT true
      );
      CREATE SCHEMA "media";
      CREATE TABLE "media"."photo" ("id" uuid PRIMARY KEY DEFAULT gen_random_uuid(), "userId" integer REFERENCES "user")
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP SCHEMA "media" CASCADE; DROP TABLE "user"');
  }
}

@EventSubscriber()
class UserSubscriber implements EntitySubscriberInterface<User> {
  readonly inserted: string[] = [];

  constructor(dataSource: DataSource) {
    dataSource.subscribers.push(this);
  }

  listenTo(): typeof User {
    return User;
  }

  beforeInsert(event: InsertEvent<User>): void {
    this.inserted.push(event.entity.firstName);
  }
}

@Injectable()
class UsersService {
  constructor(
    @InjectRepository(User) private readonly users: Repository<User>,
    @InjectDataSource() private readonly dataSource: DataSource,
    @InjectEntityManager() private readonly manager: EntityManager,
    private readonly subscriber: UserSubscriber,
  ) {}

  async create(): Promise<object> {
    const user = await this.users.save(this.users.create({ firstName: 'Ada' }));
    await this.manager.save(Photo, { user });
    return { user, inserted: this.subscriber.inserted };
  }

  findAll(): Promise<User[]> {
    return this.users.find({ relations: { photos: true } });
  }

  listNamed(firstName: string): Promise<User[]> {
    return this.users.findBy({ firstName });
  }

  async remove(id: number): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await manager.delete(Photo, { user: { id } });
      await manager.delete(User, { id });
    });
  }

  async rollBack(): Promise<number> {
    const queryRunner = this.dataSource.createQueryRunner();
    await queryRunner.connect();
    await queryRunner.startTransaction();
    try {
      await queryRunner.manager.save(User, { firstName: 'Grace' });
      throw new Error('canceled');
    } catch {
      await queryRunner.rollbackTransaction();
    } finally {
      await queryRunner.release();
    }
    return this.users.countBy({ firstName: 'Grace' });
  }

  /** As while another session locks the table. */
  async waitInVain(): Promise<void> {
    await this.users.query(`DO $$ BEGIN RAISE EXCEPTION 'canceled' USING ERRCODE = 'lock_not_available'; END $$`);
  }
}

@Controller({ path: 'users', version: '1' })
class UsersController {
  constructor(private readonly users: UsersService) {}

  @Get()
  findAll(): Promise<User[]> {
    return this.users.findAll();
  }

  @Get('named/:name')
  listNamed(@Param('name') name: string): Promise<User[]> {
    return this.users.listNamed(name);
  }

  @Get('locked')
  waitInVain(): Promise<void> {
    return this.users.waitInVain();
  }

  @Get('missing')
  readMissing(): Promise<Buffer> {
    return readFile('/no/such/file');
  }

  @Post()
  @HttpCode(200)
  create(): Promise<object> {
    return this.users.create();
  }

  @Post('canceled')
  @HttpCode(200)
  async rollBack(): Promise<object> {
    return { stored: await this.users.rollBack() };
  }

  @Delete(':id')
  @HttpCode(204)
  remove(@Param('id', ParseIntPipe) id: number): Promise<void> {
    return this.users.remove(id);
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([User, Photo])],
  providers: [UsersService, UserSubscriber],
  controllers: [UsersController],
})
class DatabaseModule {}

/** What `index.ts` exports for `src/feature-modules.ts`. */
export const DATABASE_PAGE = {
  module: DatabaseModule,
  schemas: [User, Photo],
  migrations: [CreateUsers1796000000000],
};
