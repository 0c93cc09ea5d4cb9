export { AccountsModule } from './accounts.module';
export { AccountsService } from './accounts.service';
export { AuthModule } from './auth.module';
export { Authenticator } from './authenticator';
export { type Account, allowanceOf, InvalidAccount, MAX_ALLOWANCE, type Plan, PLANS } from './domain/account';
export type { ApiKey } from './domain/api-key';
export { keyPrefix } from './api-key-secret';
export { ApiKeyGuard } from './http/api-key.guard';
export { KeysService, UnknownId } from './keys.service';
