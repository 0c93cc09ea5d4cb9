import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createNames, findProblem } from '../../generators/module/names.cjs';

const SRC = join(__dirname, '../../src');

describe('npm run generate module', () => {
  const paths = readdirSync(SRC, { recursive: true }).map(String);
  const sources = paths.filter((path) => path.endsWith('.ts')).map((path) => readFileSync(join(SRC, path), 'utf8'));
  it.each([
    ['vaccinations', 'Vaccination', 'vaccination'],
    ['medical-records', 'MedicalRecord', 'medical_record'],
    ['pet-categories', 'PetCategory', 'pet_category'],
    ['boxes', 'Box', 'box'],
  ])('accepts the name %s; its class is %s', (name, Class, code) => {
    expect(findProblem(createNames(name), { directories: [], sources: [] })).toBeUndefined();
    expect(createNames(name)).toMatchObject({ Class, code });
  });

  it.each([
    ['pets', 'this module exists'],
    ['accounts', 'its code would use account, Account and the table accounts, of which one is in use'],
    ['pages', 'its code would use page, Page and the table pages, of which one is in use'],
    ['notes', 'its code would use note, Note and the table notes, of which one is in use'],
    ['references', 'its code would use reference, Reference and the table references, of which one is in use'],
    ['migrations', 'its code would use migration, Migration and the table migrations, of which one is in use'],
    ['awaits', 'its code would use await, Await and the table awaits, of which one is in use'],
    ['errors', 'its code would use error, Error and the table errors, of which one is in use'],
    ['partials', 'its code would use partial, Partial and the table partials, of which one is in use'],
    ['visits', 'a controller in test/extending has this path; rename that one'],
    ['classes', 'its code would use class, Class and the table classes, of which one is in use'],
    ['vaccination', 'use a plural, such as vaccinations'],
    ['news', 'use a plural, such as vaccinations'],
    ['MedicalRecords', 'use lower-case words with hyphens, such as medical-records'],
    ['medical_records', 'use lower-case words with hyphens, such as medical-records'],
    ['../records', 'use lower-case words with hyphens, such as medical-records'],
    ['very-important-medical-documents', 'use at most 30 characters'],
  ])('rejects the name %s, and says why', (name, problem) => {
    expect(
      findProblem(createNames(name), { directories: paths, sources, examples: ["@Controller({ path: 'visits' })"] }),
    ).toBe(problem);
  });
});
