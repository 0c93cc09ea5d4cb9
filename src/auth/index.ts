export { AccountsModule } from './accounts.module';
export { AccountsService } from './accounts.service';
export { AuthModule } from './auth.module';
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
  KeyStateError,
} from './domain/api-key';
export { type AuditEntry, AuditTrail } from './domain/audit-trail';
export { NotFoundError } from './domain/not-found-error';
export { getApiKeyPrefix, redactSecrets } from './api-key-secret';
export { AUTH_ERROR_ENTRIES } from './http/auth-error-entries';
export { ApiKeyGuard } from './http/api-key.guard';
export { ScopeGuard } from './http/scope.guard';
export { type IssuedKey, KeysService } from './keys.service';
