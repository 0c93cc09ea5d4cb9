import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { DataSource, type DataSourceOptions, EntityManager } from 'typeorm';
import { Settings } from '../config/settings';
import { Clock } from './domain/clock';
import { UnitOfWork } from './domain/unit-of-work';
import { Database } from './persistence/database';
import { ReadEndpoint } from './persistence/read-endpoint';
import { Statements } from './persistence/statements';
import { Tables } from './persistence/table';
import { TypeOrmUnitOfWork } from './persistence/typeorm-unit-of-work';

/** The providers that every module may inject: the settings, the clock, the database and its transactions. */
@Module({})
export class SharedModule {
  /** @param databaseClass opens and closes the database; the default is the server's */
  static forRoot(
    settings: Settings,
    clock: Clock,
    database: DataSourceOptions,
    databaseClass: Type<Database> = Database,
  ): DynamicModule {
    return {
      module: SharedModule,
      global: true,
      providers: [
        { provide: Settings, useValue: settings },
        { provide: Clock, useValue: clock },
        { provide: DataSource, useValue: new DataSource(database) },
        { provide: EntityManager, inject: [DataSource], useFactory: ({ manager }: DataSource) => manager },
        { provide: Database, useClass: databaseClass },
        Statements,
        ReadEndpoint,
        Tables,
        TypeOrmUnitOfWork,
        { provide: UnitOfWork, useExisting: TypeOrmUnitOfWork },
      ],
      exports: [
        ...[Settings, Clock, DataSource, EntityManager, Database],
        ...[Statements, Tables, ReadEndpoint, TypeOrmUnitOfWork, UnitOfWork],
      ],
    };
  }
}
