import { Module } from '@nestjs/common';
import { AccountsService } from './accounts.service';
import { AccountRepository } from './domain/account.repository';
import { ApiKeyRepository } from './domain/api-key.repository';
import { KeysService } from './keys.service';
import { TypeOrmAccountRepository } from './persistence/typeorm-account.repository';
import { TypeOrmApiKeyRepository } from './persistence/typeorm-api-key.repository';

/** Accounts and their keys, as an operator manages them; without HTTP. */
@Module({
  providers: [
    AccountsService,
    KeysService,
    { provide: AccountRepository, useClass: TypeOrmAccountRepository },
    { provide: ApiKeyRepository, useClass: TypeOrmApiKeyRepository },
  ],
  exports: [AccountsService, ApiKeyRepository, KeysService],
})
export class AccountsModule {}
