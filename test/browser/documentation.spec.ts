import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { OpenAPIObject } from '@nestjs/swagger';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { findFreePort, runPetstore, type Program, startServer, createTemporaryDirectory } from '../support/process';

const CHROMIUM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
/** The directory of the screenshots in the README. */
const PICTURES = join(__dirname, '../../docs');
/** Messages of the browser about error responses, which these tests cause. */
const ERROR_STATUS = /^Failed to load resource: the server responded with a status of 4\d\d /;

describe('The documentation in a browser', () => {
  let directory: Awaited<ReturnType<typeof createTemporaryDirectory>>;
  let env: Record<string, string>;
  let server: Program & { key: string };
  let browser: Browser;
  let context: BrowserContext;
  let origin: string;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    if (!existsSync(CHROMIUM)) {
      throw new Error(
        `There is no browser at ${CHROMIUM}. Install one (apt-get install chromium), or set CHROMIUM_PATH to its path.`,
      );
    }
    directory = await createTemporaryDirectory();
    env = { DATA_DIR: directory.path, PORT: await findFreePort() };
    origin = `http://127.0.0.1:${env.PORT}`;
    [server, browser] = await Promise.all([
      startServer(env),
      chromium.launch({
        executablePath: CHROMIUM,
        args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'].concat(
          '--disable-background-networking',
          '--disable-component-update',
        ),
      }),
    ]);
    context = await browser.newContext({ viewport: { width: 1_200, height: 1_000 } });
    context.setDefaultTimeout(15_000);
  });
  afterAll(async () => {
    await browser.close();
    await server.kill('SIGTERM');
    await directory.remove();
  });

  beforeEach(async () => {
    page = await context.newPage();
    problems = [];
    page.on('console', (message) => {
      // A violation of the Content-Security-Policy is an error too.
      if (['error', 'warning'].includes(message.type()) && !ERROR_STATUS.test(message.text())) {
        problems.push(message.text());
      }
    });
    page.on('pageerror', ({ message }) => problems.push(message));
    page.on('request', (request) => {
      const { protocol, hostname } = new URL(request.url());
      if (protocol !== 'data:' && hostname !== '127.0.0.1') {
        problems.push(`request to another host: ${request.url()}`);
      }
    });
  });
  afterEach(async () => {
    await page.evaluate('localStorage.clear()');
    await page.close();
    expect(problems).toEqual([]);
  });

  const authorize = async (key: string) => {
    await page.goto(`${origin}/docs/reference`);
    await page.locator('.auth-wrapper .authorize').first().click();
    const dialog = page.locator('.dialog-ux');
    await dialog.locator('input').fill(key);
    await dialog.locator('.authorize').click();
    await dialog.locator('.btn-done').click();
  };
  const openOperation = async (operationId: string) => {
    const operation = page.locator(`#operations-pets-${operationId}`);
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('.execute').waitFor();
    return operation;
  };
  const executeOperation = async (operation: Locator, status: number) => {
    await operation.locator('.execute').click();
    const response = operation.locator('.live-responses-table tr.response', {
      has: page.locator('.response-col_status', { hasText: `${status}` }),
    });
    await response.waitFor();
    return (await response.innerText()).replaceAll('\u00a0', ' ');
  };
  const findParameter = (operation: Locator, name: string) =>
    operation.locator(`tr[data-param-name="${name}"]`).locator('input, select');

  it('runs every operation with its prefilled values, and shows the response headers', async () => {
    await authorize(server.key);
    const created = await executeOperation(await openOperation('createPet'), 201);
    expect(created).toMatch(/"name": "Rex"/);
    expect(created).toMatch(/x-ratelimit-remaining: \d+/);
    expect(created).toMatch(/location: http:\S+\/v1\/pets\/4\b/);
    if (process.env.SCREENSHOT) {
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.evaluate(`document.querySelector('#operations-pets-createPet .request-url').scrollIntoView()`);
      await page.screenshot({ path: join(PICTURES, 'reference-dark.png') });
      await page.emulateMedia({ colorScheme: 'light' });
    }
    const get = await openOperation('getPet');
    expect(await executeOperation(get, 200)).toMatch(/"id": 1,[^]+sunset: Thu, ?05 Dec 2030/);
    expect(await executeOperation(await openOperation('listPets'), 200)).toMatch(/"id": 1,[^]+x-request-id: \S+/);
  });

  it('shows the version that the reader selects, if there are several', async () => {
    await page.goto(`${origin}/docs/reference`);
    await page.locator('.info .title').waitFor();
    expect(await page.locator('.versions').innerText()).toBe('');
    const versions = [
      { name: 'v1', url: '../openapi.json' },
      { name: 'v2', url: '../openapi-v2.json' },
    ];
    await page.route('**/docs/openapi-documents.json', (route) => route.fulfill({ json: versions }));
    await page.route('**/openapi-v2.json', async (route) => {
      const document = (await (await route.fetch({ url: `${origin}/openapi.json` })).json()) as OpenAPIObject;
      await route.fulfill({ json: { ...document, info: { ...document.info, title: 'Pet store, version 2' } } });
    });
    await page.reload();
    await page.locator('.versions a', { hasText: 'v2' }).click();
    await page.locator('.info .title', { hasText: 'Pet store, version 2' }).waitFor();
    expect(await page.locator('.versions [aria-current="page"]').innerText()).toBe('v2');
  });

  it('keeps the API key after a reload', async () => {
    await authorize(server.key);
    await page.reload();
    await page.locator('.auth-wrapper .authorize.locked').first().waitFor();
    await executeOperation(await openOperation('listPets'), 200);
  });

  it('shows integers beyond 2^53 to the last digit', async () => {
    await authorize(server.key);
    const operation = await openOperation('createPet');
    for (const categoryId of ['9223372036854775807', '-9223372036854775808']) {
      await operation.locator('.body-param__text').fill(`{ "name": "Mia", "categoryId": ${categoryId} }`);
      expect(await executeOperation(operation, 201)).toContain(`"categoryId": ${categoryId},`);
      await operation.locator('.btn-clear').click();
    }
  });

  it('shows why a request fails: 400 for a parameter or a body, 401 without a key', async () => {
    await page.goto(`${origin}/docs/reference`);
    expect(await executeOperation(await openOperation('listPets'), 401)).toContain('"missing_api_key"');
    await authorize(server.key);
    const list = await openOperation('listPets');
    await findParameter(list, 'cursor').fill('AAAAAAAAAAAAAAAA');
    expect(await executeOperation(list, 400)).toContain('"invalid_cursor"');
    const create = await openOperation('createPet');
    await create.locator('.body-param__text').fill('{ "name": "" }');
    expect(await executeOperation(create, 400)).toContain('"invalid_body"');
  });

  it('shows 429 with Retry-After when the rate limit is exceeded', async () => {
    const run = async <T>(line: string) =>
      JSON.parse((await runPetstore(`${line} --json`.split(' '), env)).stdout) as T;
    const account = await run<{ id: number }>(
      'accounts create --name Small --plan enterprise --per-minute 2 --per-day 9',
    );
    const { key } = await run<{ key: string }>(`keys create --account ${account.id}`);
    await authorize(key);
    const list = await openOperation('listPets');
    expect(await executeOperation(list, 200)).toMatch(/x-ratelimit-remaining: 1\b/);
    await list.locator('.btn-clear').click();
    expect(await executeOperation(list, 200)).toMatch(/x-ratelimit-remaining: 0\b/);
    expect(await executeOperation(list, 429)).toMatch(/"rate_limit_exceeded"[^]+retry-after: \d+/);
  });

  it('opens the deprecated operation, marked as deprecated, from the link in its response headers', async () => {
    const { headers } = await fetch(`${origin}/v1/pets/1`, { headers: { authorization: `Bearer ${server.key}` } });
    const [, link = ''] = /<([^>]+)>; rel="deprecation"/.exec(headers.get('link') ?? '') ?? [];
    await page.setViewportSize({ width: 1_200, height: 400 });
    await page.goto(link);
    const operation = page.locator('#operations-pets-getPet.opblock-deprecated');
    await operation.getByText('Warning: Deprecated').waitFor();
    expect(await operation.innerText()).toContain('x-deprecated-sunset');
    const isInView = `document.querySelector('#operations-pets-getPet').getBoundingClientRect().top < innerHeight`;
    await page.waitForFunction(isInView);
    expect(await page.locator('.opblock-deprecated').count()).toBe(1);
  });

  it('shows the stability level next to the path of an operation that is not stable', async () => {
    await page.route('**/openapi.json', async (route) => {
      const response = await route.fetch();
      const document = (await response.json()) as OpenAPIObject;
      Object.assign(document.paths['/pets']?.get ?? {}, { 'x-stability': 'beta' });
      await route.fulfill({ response, json: document });
    });
    await page.goto(`${origin}/docs/reference`);
    await page.locator('#operations-pets-listPets .stability').waitFor();
    expect(await page.locator('#operations-pets-listPets .stability').innerText()).toBe('beta');
    expect(await page.locator('#operations-pets-createPet .stability').count()).toBe(0);
  });

  it('shows the level of every operation that is not stable', async () => {
    const document = (await (await fetch(`${origin}/openapi.json`)).json()) as OpenAPIObject;
    const levels = Object.values(document.paths)
      .flatMap((item) => Object.values(item as object) as { readonly 'x-stability'?: string }[])
      .flatMap(({ 'x-stability': level }) => level ?? []);
    await page.goto(`${origin}/docs/reference`);
    await page.locator('#operations-pets-listPets').waitFor();
    expect((await page.locator('.stability').allInnerTexts()).sort()).toEqual(levels.sort());
  });

  it.each(['/docs', '/docs/'])('opens the operation in the fragment of %s', async (path) => {
    await page.goto(`${origin}${path}#/pets/listPets`);
    await page.locator('#operations-pets-listPets.is-open').waitFor();
  });

  it('shows animals first and usage last, and the bounds of int64 to the last digit', async () => {
    await page.goto(`${origin}/docs/reference#/pets/createPet`);
    const operation = page.locator('#operations-pets-createPet.is-open');
    await operation.getByRole('tab', { name: 'Schema' }).first().click();
    await operation.getByText('[-9223372036854775808, 9223372036854775807]').first().waitFor();
    const tags = await page.evaluate<string[]>(
      `[...document.querySelectorAll('.opblock-tag')].map((tag) => tag.dataset.tag)`,
    );
    const document = (await (await fetch(`${origin}/openapi.json`)).json()) as OpenAPIObject;
    expect(tags).toEqual(document.tags?.map(({ name }) => name));
    expect([tags.at(0), tags.at(-1)]).toEqual(['pets', 'rate limits']);
  });

  it.each([
    ['JavaScript', 'node', ['--input-type=module', '-e']],
    ['Python', 'python3', ['-c']],
    ['curl', 'bash', ['-c']],
  ])('shows a sent request in %s, and the code runs unchanged', async (language, program, options) => {
    await authorize(server.key);
    const operation = await openOperation('createPet');
    await operation
      .locator('.body-param__text')
      .fill('{ "name": "O\'Malley \\"🐈\\"", "categoryId": 9223372036854775807 }');
    await executeOperation(operation, 201);
    await operation
      .locator('.request-snippets h4')
      .getByText(language)
      .or(operation.locator('.request-snippets').getByRole('button', { name: language }))
      .first()
      .click();
    const code = await operation.locator('.request-snippets pre code').first().textContent();
    const { stdout } = await promisify(execFile)(program, [...options, code ?? '']);
    expect(stdout).toContain('"name":"O\'Malley \\"🐈\\"","categoryId":9223372036854775807');
  });

  it('expands the documented headers of a response', async () => {
    await page.goto(`${origin}/docs/reference#/pets/listPets`);
    const response = page.locator('#operations-pets-listPets tr.response[data-code="429"]');
    await response.waitFor();
    const header = response.getByText('Seconds to wait before the next request.');
    expect(await header.isVisible()).toBe(false);
    await response.locator('summary').click();
    await header.waitFor();
  });

  it('keeps every operation usable on a phone, with nothing wider than the screen', async () => {
    await page.setViewportSize({ width: 375, height: 740 });
    await authorize(server.key);
    const operation = await openOperation('createPet');
    await executeOperation(operation, 201);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375);
    const { x = -1, width = 0 } = (await operation.locator('.execute').boundingBox()) ?? {};
    expect(x).toBeGreaterThanOrEqual(0);
    expect(x + width).toBeLessThanOrEqual(375);
  });

  it.each(['/docs', '/docs/reference'])('follows the color scheme of the system at %s', async (path) => {
    const readBackground = () =>
      page.evaluate(
        `getComputedStyle(document.querySelector('.swagger-ui .wrapper, article')).color + getComputedStyle(document.body).backgroundColor`,
      );
    await page.goto(`${origin}${path}`);
    await page.locator('.swagger-ui .info, article h1').first().waitFor();
    const light = await readBackground();
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await readBackground()).not.toBe(light);
  });

  it('finds a section of the guides and opens it', async () => {
    await page.goto(`${origin}/docs`);
    const search = page.getByRole('searchbox');
    await search.fill('idempotency key reused');
    await page.locator('.results a').first().waitFor();
    await search.press('Enter');
    await page.waitForURL(`${origin}/docs/errors#idempotency_key_reused`);
    await page.getByRole('link', { name: 'Rate limits', exact: true }).click();
    expect(await page.locator('h1').innerText()).toMatch(/^Rate limits/);
  });

  it('shows the examples of the guides with the URL of this service', async () => {
    await page.goto(`${origin}/docs/getting-started`);
    expect(await page.locator('#a-first-call ~ pre').first().innerText()).toContain(`curl -i ${origin}/v1/pets`);
    if (process.env.SCREENSHOT) {
      await page.setViewportSize({ width: 1_200, height: 800 });
      await page.screenshot({ path: join(PICTURES, 'guide-light.png') });
    }
  });

  describe('A page of another origin', () => {
    let other: Server;

    beforeAll(async () => {
      other = createServer((_request, response) => {
        response.setHeader('content-type', 'text/html').end('<link rel="icon" href="data:,"><h1>A shop</h1>');
      });
      await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    });
    afterAll(() => other.close());

    it('can call the API with a key and read the response headers', async () => {
      await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`);
      const read = async ({ url, key }: { url: string; key: string }) => {
        const { status, headers } = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
        return { status, remaining: headers.get('x-ratelimit-remaining') };
      };
      const url = `${origin}/v1/pets`;
      const expected = { status: 200, remaining: expect.stringMatching(/^\d+$/) as string };
      expect(await page.evaluate(read, { url, key: server.key })).toEqual(expected);
      expect(await page.evaluate(read, { url, key: 'wrong' })).toEqual({ ...expected, status: 401 });
    });
  });
});
