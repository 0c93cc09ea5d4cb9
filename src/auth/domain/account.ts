import type { Allowance } from '../../shared/domain/allowance';
import { escapeControlCharacters, validateText } from '../../shared/domain/text';

/** The limits that each enterprise account has of its own. */
export type AccountLimits = Pick<Allowance, 'perMinute' | 'perDay'>;

/** The plans and their limits; for enterprise, only those that its accounts share. */
export const PLAN_ALLOWANCES = {
  free: { perMinute: 60, perDay: 1_000 } satisfies Allowance,
  pro: { perMinute: 300, perDay: 10_000 } satisfies Allowance,
  business: { perMinute: 1_000, perDay: 100_000 } satisfies Allowance,
  enterprise: {} satisfies Omit<Allowance, keyof AccountLimits>,
};

export type Plan = keyof typeof PLAN_ALLOWANCES;

export const PLANS = Object.keys(PLAN_ALLOWANCES) as Plan[];

/** A customer, with one plan whose limits all its API keys share. */
export class Account {
  constructor(
    readonly id: bigint,
    readonly name: string,
    /** May be a plan of a newer version, which this version does not know. */
    readonly plan: string,
    /** The limits of an enterprise account; null on every other plan. */
    readonly perMinute: number | null,
    readonly perDay: number | null,
    readonly createdAt: Date,
    /** Since when all its keys are rejected; null if they are not. */
    readonly suspendedAt: Date | null,
  ) {}
}

export type NewAccount = Omit<Account, 'id' | 'suspendedAt'>;

/** Returns the request limits of an account; undefined if this version does not know its plan, or it lacks its own limits. */
export function getAllowance({
  plan,
  perMinute,
  perDay,
}: Pick<Account, 'plan' | 'perMinute' | 'perDay'>): Allowance | undefined {
  const known = PLANS.find((each) => each === plan);
  if (known !== 'enterprise') {
    return known && PLAN_ALLOWANCES[known];
  }
  return isRequestLimit(perMinute) && isRequestLimit(perDay)
    ? { perMinute, perDay, ...PLAN_ALLOWANCES.enterprise }
    : undefined;
}

function isRequestLimit(value: number | null): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1;
}

/** The account is invalid; the message says why. */
export class InvalidAccountError extends Error {}

/** The state of the account does not allow the change; the message says what to do first. */
export class AccountStateError extends Error {}

/** @throws InvalidAccountError */
export function createAccount(name: string, plan: Plan, allowance: Partial<AccountLimits>, now: number): NewAccount {
  const problem =
    validateText(name, { maxLength: 100 }) ??
    (escapeControlCharacters(name) === name
      ? undefined
      : 'must not contain control characters or bidirectional overrides');
  if (problem !== undefined) {
    throw new InvalidAccountError(`The name ${problem}.`);
  }
  return { name, ...validatePlan(plan, allowance), createdAt: new Date(now) };
}

/** Returns the account with another plan. @throws InvalidAccountError */
export function withPlan(account: Account, plan: Plan, allowance: Partial<AccountLimits>): Account {
  return { ...account, ...validatePlan(plan, allowance) };
}

function validatePlan(plan: Plan, allowance: Partial<AccountLimits>): Pick<Account, 'plan' | 'perMinute' | 'perDay'> {
  const { perMinute = null, perDay = null } = allowance;
  if (plan !== 'enterprise' && (perMinute !== null || perDay !== null)) {
    throw new InvalidAccountError(
      `The limits of the ${plan} plan are fixed; only the enterprise plan has custom limits.`,
    );
  }
  const planAndLimits = { plan, perMinute, perDay };
  if (getAllowance(planAndLimits) === undefined) {
    throw new InvalidAccountError(
      'The enterprise plan requires both limits: requests per minute and requests per day.',
    );
  }
  return planAndLimits;
}
