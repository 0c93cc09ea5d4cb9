import { scripts } from '../../package.json';

describe('The npm scripts', () => {
  it.each(Object.entries(scripts))('%s: run in cmd.exe and in a POSIX shell', (_name, script) => {
    const unquoted = script.replace(/"[^"]*"/g, '');
    expect(unquoted).not.toMatch(/['$;[\]`~*\\]|(^|&& )(\w+=|exec )/);
  });

  it.each(Object.entries(scripts).filter(([, script]) => /^jest(?!.* test\/image$)/.test(script)))(
    '%s: tests the current sources, because it builds them first',
    (name) => {
      expect(scripts).toHaveProperty([`pre${name}`], expect.stringMatching(/^node scripts\/build\.mjs\b/));
    },
  );

  it('leave a current build after they have changed its inputs', () => {
    expect(scripts.regenerate).toMatch(/ && npm run build$/);
  });

  it('start plain Node.js, without options', () => {
    expect(scripts.start).toBe('node dist/src/main.js');
    expect(scripts['start:prod']).toBe(scripts.start);
  });
});
