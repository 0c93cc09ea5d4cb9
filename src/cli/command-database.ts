import { Injectable } from '@nestjs/common';
import { Database } from '../shared/persistence/database';
import { DataDirectoryInUseError, EmbeddedDatabase } from '../shared/persistence/embedded/embedded-database';
import { migrate } from '../shared/persistence/migrate';

/** The database of a command. It does not retry, and can use the embedded database of a running server. */
@Injectable()
export class CommandDatabase extends Database {
  override async onModuleInit(): Promise<void> {
    try {
      if (this.settings.databaseUrl === undefined) {
        this.embedded = await openUnlessInUse(this.settings.dataDir);
      }
      if (this.embedded !== undefined) {
        await migrate(this.dataSource.options);
      }
      await this.dataSource.initialize();
    } catch (error) {
      await this.onApplicationShutdown();
      throw error;
    }
  }
}

/** @returns undefined if a running server has it open and accepts connections */
export async function openUnlessInUse(dataDir: string): Promise<EmbeddedDatabase | undefined> {
  try {
    return await EmbeddedDatabase.open(dataDir);
  } catch (error) {
    if (error instanceof DataDirectoryInUseError) {
      return undefined;
    }
    throw error;
  }
}
