import { Module } from '@nestjs/common';
import { AccountsService } from './accounts.service';
import { AccountRepository } from './domain/account.repository';
import { ApiKeyRepository } from './domain/api-key.repository';
import { AuditTrail } from './domain/audit-trail';
import { KeysService } from './keys.service';
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
  ],
  exports: [AccountsService, ApiKeyRepository, AuditTrail, KeysService],
})
export class AccountsModule {}
