import { getAllowance, InvalidAccountError, createAccount, withPlan } from './account';

describe('An account', () => {
  it('has the allowance of its plan', () => {
    expect(getAllowance(createAccount('A', 'free', {}, 0))).toMatchObject({ perMinute: 60, perDay: 1_000 });
    expect(getAllowance(createAccount('A', 'pro', {}, 0))).toMatchObject({ perMinute: 300, perDay: 10_000 });
    expect(getAllowance(createAccount('A', 'business', {}, 0))).toMatchObject({ perMinute: 1_000, perDay: 100_000 });
    expect(getAllowance(createAccount('A', 'enterprise', { perMinute: 5, perDay: 7 }, 0))).toMatchObject({
      perMinute: 5,
      perDay: 7,
    });
  });

  it.each([{}, { perMinute: 5 }, { perDay: 5 }])('on plan enterprise requires both limits, not %j', (allowance) => {
    expect(() => createAccount('A', 'enterprise', allowance, 0)).toThrow(InvalidAccountError);
  });

  it('has a name of 1 to 100 characters, counted as PostgreSQL counts them', () => {
    expect(createAccount('🐶'.repeat(100), 'free', {}, 0).name).toHaveLength(200);
    for (const name of ['', '🐶'.repeat(101), ' ', 'a\0']) {
      expect(() => createAccount(name, 'free', {}, 0)).toThrow(/^The name must/);
    }
  });

  it('on any other plan cannot have custom limits', () => {
    expect(() => createAccount('A', 'free', { perMinute: 5 }, 0)).toThrow('The limits of the free plan are fixed');
  });

  it('changes only its plan and limits, by the same rules', () => {
    const account = { id: 7n, suspendedAt: null, ...createAccount('A', 'enterprise', { perMinute: 5, perDay: 7 }, 0) };
    expect(withPlan(account, 'pro', {})).toEqual({ ...account, plan: 'pro', perMinute: null, perDay: null });
    expect(withPlan(account, 'enterprise', { perMinute: 1, perDay: 2 })).toEqual({
      ...account,
      perMinute: 1,
      perDay: 2,
    });
    expect(() => withPlan(account, 'enterprise', { perMinute: 1 })).toThrow('requires both limits');
    expect(() => withPlan(account, 'free', { perDay: 1 })).toThrow('The limits of the free plan are fixed');
  });

  it.each(['', ' ', 'a'.repeat(101), 'a\0', 'a\x1bb', 'a\nb', 'a\x85b', 'a\u202eb', 'a\u2069b'])(
    'cannot be named %j',
    (name) => {
      expect(() => createAccount(name, 'free', {}, 0)).toThrow(InvalidAccountError);
    },
  );
});
