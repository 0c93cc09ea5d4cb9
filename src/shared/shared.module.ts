import { type DynamicModule, Module } from '@nestjs/common';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { Settings } from '../config/settings';
import { Clock } from './domain/clock';
import { Database } from './persistence/database';

/** What every module may ask for: the settings, the time and the database. */
@Module({})
export class SharedModule {
  static forRoot(settings: Settings, clock: Clock, database: DataSourceOptions): DynamicModule {
    return {
      module: SharedModule,
      global: true,
      providers: [
        { provide: Settings, useValue: settings },
        { provide: Clock, useValue: clock },
        { provide: DataSource, useValue: new DataSource(database) },
        Database,
      ],
      exports: [Settings, Clock, DataSource, Database],
    };
  }
}
