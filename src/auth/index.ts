export { AccountsModule } from './accounts.module';
export { AccountsService } from './accounts.service';
export { AuthModule } from './auth.module';
export { Authenticator } from './authenticator';
export { type Account, allowanceOf, InvalidAccount, MAX_ALLOWANCE, type Plan, PLANS } from './domain/account';
export {
  type ApiKey,
  DEFAULT_GRACE_MS,
  InvalidKey,
  isValid,
  KeyNotRotatable,
  type KeyState,
  stateOf,
} from './domain/api-key';
export { type AuditEntry, AuditTrail } from './domain/audit-trail';
export { UnknownId } from './domain/unknown-id';
export { keyPrefix } from './api-key-secret';
export { ApiKeyGuard } from './http/api-key.guard';
export { type IssuedKey, KeysService } from './keys.service';
