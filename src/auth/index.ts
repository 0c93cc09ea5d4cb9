import { AuthModule } from './auth.module';
import { AUTH_ERROR_ENTRIES } from './http/auth-error-entries';
import { AccountSchema } from './persistence/account.schema';
import { AddAccountSuspension1795784400000 } from './persistence/add-account-suspension.migration';
import { AddKeyLastUse1795288800000 } from './persistence/add-key-last-use.migration';
import { AddKeyRotation1795288200000 } from './persistence/add-key-rotation.migration';
import { AddKeyScope1795332600000 } from './persistence/add-key-scope.migration';
import { AddKeyUnbans1795292400000 } from './persistence/add-key-unbans.migration';
import { AllowOtherPlansAndScopes1795780800000 } from './persistence/allow-other-plans-and-scopes.migration';
import { ApiKeySchema } from './persistence/api-key.schema';
import { CreateAuthChanges1795296000000 } from './persistence/create-auth-changes.migration';
import { CreateAuditEntries1795287600000 } from './persistence/create-audit-entries.migration';
import { CreateAccountsAndKeys1795219200000 } from './persistence/create-accounts-and-keys.migration';
import { RenameKeyStartAndAuditAction1795788000000 } from './persistence/rename-key-start-and-audit-action.migration';

export { AccountsModule } from './accounts.module';
export { AccountsService } from './accounts.service';
export { Authenticator } from './authenticator';
export { ensureDemoKey } from './demo-key';
export { type Account, getAllowance, InvalidAccountError, type Plan, PLANS } from './domain/account';
export {
  type ApiKey,
  DEFAULT_GRACE_MS,
  InvalidKeyError,
  isKeyValid,
  type KeyState,
  getKeyState,
} from './domain/api-key';
export { type AuditEntry, AuditTrail } from './domain/audit-trail';
export { containsSecret, getApiKeyPrefix, redactSecrets } from './api-key-secret';
export { ApiKeyGuard } from './http/api-key.guard';
export { SlowBodyGuard } from './http/slow-body.guard';
export { AuthStrategies, getAuthStrategies } from './http/auth-strategies.decorator';
export { API_KEY_STRATEGY, parseBearerToken } from './http/bearer.strategy';
export { KnownScopes, ScopeGuard } from './http/scope.guard';
export { type IssuedKey, KeysService } from './keys.service';

export const AUTH = {
  module: AuthModule,
  schemas: [AccountSchema, ApiKeySchema],
  migrations: [
    CreateAccountsAndKeys1795219200000,
    CreateAuditEntries1795287600000,
    AddKeyRotation1795288200000,
    AddKeyLastUse1795288800000,
    AddKeyUnbans1795292400000,
    CreateAuthChanges1795296000000,
    AddKeyScope1795332600000,
    AllowOtherPlansAndScopes1795780800000,
    AddAccountSuspension1795784400000,
    RenameKeyStartAndAuditAction1795788000000,
  ],
  errors: AUTH_ERROR_ENTRIES,
};
