import { scripts } from '../../package.json';

describe('The npm scripts', () => {
  it.each(Object.entries(scripts))('%s: run in cmd.exe and in a POSIX shell', (_name, script) => {
    const unquoted = script.replace(/"[^"]*"/g, '');
    expect(unquoted).not.toMatch(/['$;[\]`~*\\]|(^|&& )(\w+=|exec )/);
  });

  it('start plain Node.js, without options', () => {
    expect(scripts.start).toBe('node dist/src/main.js');
    expect(scripts['start:prod']).toBe(scripts.start);
  });
});
