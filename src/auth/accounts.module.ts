import { Module } from '@nestjs/common';
import { AccountsService } from './accounts.service';
import { AccountRepository } from './domain/account.repository';
import { ApiKeyRepository } from './domain/api-key.repository';
import { AuditTrail } from './domain/audit-trail';
import { Operator } from './domain/operator';
import { KeysService } from './keys.service';
import { operatingSystemUser } from './operating-system-user';
import { PostgresAuditTrail } from './persistence/postgres-audit-trail';
import { TypeOrmAccountRepository } from './persistence/typeorm-account.repository';
import { TypeOrmApiKeyRepository } from './persistence/typeorm-api-key.repository';

/** Accounts and their keys, as an operator manages them; without HTTP. */
@Module({
  providers: [
    AccountsService,
    KeysService,
    { provide: AccountRepository, useClass: TypeOrmAccountRepository },
    { provide: ApiKeyRepository, useClass: TypeOrmApiKeyRepository },
    { provide: AuditTrail, useClass: PostgresAuditTrail },
    { provide: Operator, useFactory: () => operatingSystemUser() },
  ],
  exports: [AccountsService, ApiKeyRepository, AuditTrail, KeysService],
})
export class AccountsModule {}
