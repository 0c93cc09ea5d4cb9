import { BadRequestException, ConflictException } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { DataSource } from 'typeorm';
import { InvalidSettingsError, loadSettings } from '../../src/config/settings';
import { UnitOfWork } from '../../src/shared/domain/unit-of-work';
import { Statements } from '../../src/shared/persistence/statements';
import { convertViolation } from '../../src/shared/persistence/constraint-violation';
import { getCode } from '../support/service';
import { VisitStore } from './visit-store';
import { VisitsService } from './visits.module';
import { ADMIN_DATABASE_URL } from '../support/worker-database';

const DATE_TIME = 'must be a date-time with a time zone, such as 2026-12-24T09:00:00Z, from 1970 to 9999';

describe('A module added by a team', () => {
  let store: VisitStore;
  const lines: string[] = [];

  beforeAll(async () => {
    store = await VisitStore.start(
      {
        DATABASE_URL: ADMIN_DATABASE_URL,
        LOG_LEVEL: 'info',
        VISIT_MAX_HOURS: '3',
      },
      { write: (line) => lines.push(line) },
    );
  });
  afterAll(() => store.close());

  const createVisit = async (more: object = {}, petId?: bigint) =>
    store.call('POST', '/v1/visits', {
      petId: Number(petId ?? (await store.addPet())),
      startsAt: '2027-01-31T18:00:00+02:00',
      endsAt: '2027-01-31T17:00:00Z',
      ...more,
    });
  const getId = ({ body }: { body: unknown }) => (body as { id: number }).id;
  const getMessage = ({ body }: { body: unknown }) => (body as { message: string }).message;

  describe('declares fields with decorators:', () => {
    it('a date-time in the body is a Date, and no other value is accepted as one', async () => {
      expect((await createVisit()).body).toMatchObject({
        startsAt: '2027-01-31T16:00:00.000Z',
        endsAt: '2027-01-31T17:00:00.000Z',
      });
      for (const endsAt of ['2027-01-31', '2027-02-30T00:00:00Z', 1_801_411_200_000, null, ['2027-01-31T17:00:00Z']]) {
        const response = await createVisit({ endsAt });
        expect([getCode(response), getMessage(response)]).toEqual(['invalid_body', `endsAt ${DATE_TIME}.`]);
      }
      expect(getMessage(await createVisit({ endsAt: undefined }))).toBe('endsAt is required.');
    });

    it('a date-time in the query is a Date, and its cursors accept other spellings of the same time', async () => {
      const made = [];
      for (const day of ['01', '02', '03']) {
        made.push(
          getId(await createVisit({ startsAt: `2028-05-${day}T09:00:00Z`, endsAt: `2028-05-${day}T10:00:00Z` })),
        );
      }
      const list = (query: string) => store.call('GET', `/v1/visits?${query}`);
      const getIds = ({ body }: { body: unknown }) => (body as { id: number }[]).map(({ id }) => id);
      const first = await list('limit=1&from=2028-05-02T11:00:00%2B02:00&to=2029-01-01T00:00:00Z');
      expect(getIds(first)).toEqual([made[1]]);
      const next = /<\/v1\/visits\?(limit=1&from=2028-05-02T09%3A00%3A00\.000Z&to=.+)>/.exec(first.headers.link ?? '');
      const second = await list(next?.[1] ?? '');
      expect([getIds(second), second.headers.link]).toEqual([[made[2]], undefined]);
      const cursor = /cursor=.+$/.exec(next?.[1] ?? '')?.[0] ?? '';
      expect(getIds(await list(`from=2028-05-02T09:00:00Z&to=2029-01-01T00:00:00Z&${cursor}`))).toEqual([made[2]]);
      expect(getCode(await list(`from=2028-05-02T09:00:01Z&to=2029-01-01T00:00:00Z&${cursor}`))).toBe('invalid_cursor');
      // In a query, an unencoded plus is a space.
      for (const from of ['2028-05-02', '2028-05-02T11:00:00+02:00', '', 'null', '2028-05-02T09:00:00Z&from=']) {
        const response = await list(`from=${from}`);
        expect([getCode(response), getMessage(response)]).toEqual(['invalid_parameter', `from ${DATE_TIME}.`]);
      }
    });

    it('text has the length that its field declares, in characters, and an optional field must not be null', async () => {
      const note = ` ${'🐕'.repeat(18)} `;
      expect((await createVisit({ note })).body).toMatchObject({ note });
      for (const [value, problem] of [
        ['🐕'.repeat(21), 'must be 1 to 20 characters long'],
        [null, 'must be a string'],
      ] as const) {
        const response = await createVisit({ note: value });
        expect([getCode(response), getMessage(response)]).toEqual(['invalid_body', `note ${problem}.`]);
      }
    });

    it('a change must have at least one of its fields', async () => {
      const url = `/v1/visits/${getId(await createVisit({ note: 'Vaccination' }))}`;
      expect((await store.call('PATCH', url, { note: 'Check-up' })).body).toMatchObject({ note: 'Check-up' });
      expect((await store.call('PATCH', url, { endsAt: '2027-01-31T16:30:00Z' })).body).toMatchObject({
        endsAt: '2027-01-31T16:30:00.000Z',
        note: 'Check-up',
      });
      for (const body of [{}, { room: 1 }, { 'one of endsAt, note': 1 }]) {
        const response = await store.call('PATCH', url, body);
        expect([getCode(response), getMessage(response)]).toEqual([
          'invalid_body',
          'at least one of endsAt, note is required.',
        ]);
      }
      expect(getMessage(await store.call('PATCH', url, { note: null }))).toBe('note must be a string.');
    });

    it('the OpenAPI document describes all of this', async () => {
      const { schemas } = ((await store.call('GET', '/openapi.json')).body as OpenAPIObject).components ?? {};
      expect(schemas).toMatchObject({
        CreateVisitDto: {
          required: ['petId', 'startsAt', 'endsAt'],
          properties: {
            startsAt: { type: 'string', format: 'date-time', maxLength: 35 },
            note: { type: 'string', minLength: 1, maxLength: 20, pattern: '\\S' },
          },
        },
        VisitChange: {
          description: 'What to change.',
          minProperties: 1,
        },
      });
    });
  });

  describe('keeps its rules in the database:', () => {
    const conflict = 'The animal has a visit at that time.';

    it('a constraint violation returns the error that the module declares for it', async () => {
      const petId = await store.addPet();
      expect((await createVisit({}, petId)).status).toBe(201);
      const response = await createVisit({ startsAt: '2027-01-31T16:59:59Z', endsAt: '2027-01-31T18:00:00Z' }, petId);
      expect([response.status, getCode(response), getMessage(response)]).toEqual([409, 'conflict', conflict]);
      expect(
        (await createVisit({ startsAt: '2027-01-31T17:00:00Z', endsAt: '2027-01-31T18:00:00Z' }, petId)).status,
      ).toBe(201);
      expect(getMessage(await createVisit({ endsAt: '2027-01-31T16:00:00Z' }))).toBe('A visit ends after it starts.');
      const earlier = await createVisit({ startsAt: '2027-01-31T15:00:00Z', endsAt: '2027-01-31T16:00:00Z' }, petId);
      const url = `/v1/visits/${getId(earlier)}`;
      expect(getCode(await store.call('PATCH', url, { endsAt: '2027-01-31T16:00:01Z' }))).toBe('conflict');
      const visits = store.app.get(VisitsService);
      await expect(visits.insert(['999999', new Date(0), new Date(1), null])).rejects.toThrow(
        'No animal has this petId.',
      );
    });

    it('a violation of a constraint of another module returns the error declared for its condition', async () => {
      const petId = await store.addPet();
      expect((await createVisit({}, petId)).status).toBe(201);
      const remove = () => store.app.get(DataSource).query('DELETE FROM pets WHERE id = $1', [petId.toString()]);
      const errors = { foreign_key_violation: () => new ConflictException('The animal is in use.') };
      await expect(convertViolation(remove, errors)).rejects.toThrow('The animal is in use.');
    });

    it('a violation in any kind of statement, or at the commit, returns the declared error', async () => {
      const [statements, unitOfWork] = [store.app.get(Statements), store.app.get(UnitOfWork)];
      await store.app
        .get(DataSource)
        .query(
          `CREATE TABLE rooms (name text CONSTRAINT rooms_once UNIQUE DEFERRABLE INITIALLY DEFERRED, CHECK (name <> ''))`,
        );
      const add = (name: string) =>
        statements.write({ name: 'add_room', text: 'INSERT INTO rooms (name) VALUES ($1)', columns: [] }, [name]);
      const errors = {
        rooms_once: () => new ConflictException('The room exists.'),
        rooms_name_check: () => new BadRequestException('The room needs a name.'),
      };
      await add('A');
      await expect(convertViolation(() => add(''), errors)).rejects.toThrow('The room needs a name.');
      await expect(convertViolation(() => unitOfWork.run(() => add('A')), errors)).rejects.toThrow('The room exists.');
      await store.app.get(DataSource).query('DROP TABLE rooms');
    });

    it('the violation of a constraint that no module declares is a 500', async () => {
      const sql = (text: string) => store.app.get(DataSource).query(text);
      await sql(`ALTER TABLE visits ADD CONSTRAINT no_bath CHECK (note <> 'Bath')`);
      const response = await createVisit({ note: 'Bath' });
      expect([response.status, getCode(response)]).toEqual([500, 'internal_error']);
    });
  });

  it('has its own metrics', async () => {
    const count = async () =>
      Number(/^petstore_visits_total (\d+)$/m.exec((await store.app.inject('/metrics')).body)?.[1]);
    const before = await count();
    await createVisit();
    expect(await count()).toBe(before + 1);
  });

  it('adds fields to the log lines of its requests', async () => {
    lines.length = 0;
    const petId = await store.addPet();
    const visitId = getId(await createVisit({}, petId));
    await store.call('GET', '/v1/pets');
    expect(lines.join('')).toContain(` visitId=${visitId} petId=${petId} `);
    expect(lines.filter((line) => line.includes('visitId='))).toHaveLength(1);
  });

  it('sends headers that the document lists and browsers may read', async () => {
    const { headers } = await createVisit();
    expect(headers['x-room']).toBe('A');
    // The wildcard covers all headers because requests have no credentials (Fetch standard, CORS protocol).
    expect(headers['access-control-expose-headers']?.split(', ')).toContain('*');
    expect(headers['access-control-allow-credentials']).toBeUndefined();
  });

  it('has its own settings, which are validated with all others', async () => {
    expect(getMessage(await createVisit({ endsAt: '2027-01-31T19:00:01Z' }))).toBe('A visit takes at most 3 hours.');
    const wrong = () => loadSettings({ PORT: 'x', VISIT_MAX_HOURS: '25' });
    expect(wrong).toThrow(InvalidSettingsError);
    expect(wrong).toThrow(/^PORT must .+\nVISIT_MAX_HOURS must be a whole number from 1 to 24\.$/);
  });
});
