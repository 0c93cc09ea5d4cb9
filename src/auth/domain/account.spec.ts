import { allowanceOf, InvalidAccountError, newAccount, withPlan } from './account';

describe('An account', () => {
  it('has the allowance of its plan', () => {
    expect(allowanceOf(newAccount('A', 'free', {}, 0))).toEqual({ perMinute: 60, perDay: 1_000 });
    expect(allowanceOf(newAccount('A', 'pro', {}, 0))).toEqual({ perMinute: 300, perDay: 10_000 });
    expect(allowanceOf(newAccount('A', 'business', {}, 0))).toEqual({ perMinute: 1_000, perDay: 100_000 });
    expect(allowanceOf(newAccount('A', 'enterprise', { perMinute: 5, perDay: 7 }, 0))).toEqual({
      perMinute: 5,
      perDay: 7,
    });
  });

  it.each([{}, { perMinute: 5 }, { perDay: 5 }])('on plan enterprise needs both numbers, not %j', (allowance) => {
    expect(() => newAccount('A', 'enterprise', allowance, 0)).toThrow(InvalidAccountError);
  });

  it('on another plan takes no numbers of its own', () => {
    expect(() => newAccount('A', 'free', { perMinute: 5 }, 0)).toThrow('The numbers of the free plan are fixed');
  });

  it('is put on another plan by the same rules, and stays what it is otherwise', () => {
    const account = { id: 7n, ...newAccount('A', 'enterprise', { perMinute: 5, perDay: 7 }, 0) };
    expect(withPlan(account, 'pro', {})).toEqual({ ...account, plan: 'pro', perMinute: null, perDay: null });
    expect(withPlan(account, 'enterprise', { perMinute: 1, perDay: 2 })).toEqual({
      ...account,
      perMinute: 1,
      perDay: 2,
    });
    expect(() => withPlan(account, 'enterprise', { perMinute: 1 })).toThrow('needs both numbers');
    expect(() => withPlan(account, 'free', { perDay: 1 })).toThrow('The numbers of the free plan are fixed');
  });

  it.each(['', ' ', 'a'.repeat(101), 'a\0'])('is not named %j', (name) => {
    expect(() => newAccount(name, 'free', {}, 0)).toThrow(InvalidAccountError);
  });
});
