import { Module } from '@nestjs/common';
import { AccountsService } from './accounts.service';
import { AccountRepository } from './domain/account.repository';
import { ApiKeyRepository } from './domain/api-key.repository';
import { AuditTrail } from './domain/audit-trail';
import { Operator } from './domain/operator';
import { KeysService } from './keys.service';
import { getOperatingSystemUser } from './operating-system-user';
import { PostgresAuditTrail } from './persistence/postgres-audit-trail';
import { TypeOrmAccountRepository } from './persistence/typeorm-account.repository';
import { TypeOrmApiKeyRepository } from './persistence/typeorm-api-key.repository';

/** The services that operators use to manage accounts and API keys, without HTTP. */
@Module({
  providers: [
    AccountsService,
    KeysService,
    { provide: AccountRepository, useClass: TypeOrmAccountRepository },
    { provide: ApiKeyRepository, useClass: TypeOrmApiKeyRepository },
    { provide: AuditTrail, useClass: PostgresAuditTrail },
    { provide: Operator, useFactory: () => getOperatingSystemUser() },
  ],
  exports: [AccountsService, ApiKeyRepository, AuditTrail, KeysService],
})
export class AccountsModule {}
