import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import type { OpenAPIObject } from '@nestjs/swagger';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { eventually } from '../cluster/support/replica';
import { onEnd } from '../support/cleanup';
import {
  createTemporaryDirectory,
  findFreePort,
  listen,
  type Program,
  runPetstore,
  startServer,
} from '../support/process';

const CHROMIUM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
/** Finds the serious problems of WCAG 2.2 AA on a page. */
const FIND_VIOLATIONS = `
  axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }).then(({ violations }) =>
    violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))
      .map(({ id, nodes }) => ({ id, nodes: nodes.map(({ target, failureSummary }) => [target, failureSummary]) })))`;
/** Messages of the browser about error responses, which these tests cause. */
const ERROR_STATUS = /^Failed to load resource: the server responded with a status of 4\d\d /;

describe('The documentation in a browser', () => {
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
    env = { DATA_DIR: (await createTemporaryDirectory()).path, PORT: await findFreePort() };
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
    onEnd(() => browser.close());
    context = await browser.newContext({ viewport: { width: 1_200, height: 1_000 } });
    context.setDefaultTimeout(30_000);
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
    await page.evaluate('localStorage.clear?.()');
    await page.close();
    expect(problems).toEqual([]);
  });

  const openKeyDialog = async () => {
    await page.goto(`${origin}/docs/reference`);
    await page.locator('.auth-wrapper .authorize').first().click();
    return page.locator('.dialog-ux');
  };
  const authorize = async (key: string) => {
    const dialog = await openKeyDialog();
    await dialog.getByLabel('API key').fill(key);
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
  /** Waits for a condition. A string cannot be evaluated in the page later, because of its Content-Security-Policy. */
  const waitUntil = async (condition: string) => {
    await eventually(30_000, async () => (await page.evaluate<boolean>(condition)) === true);
  };
  /** Waits until the reference shows whether there is a key, in another tab. */
  const expectInAnotherTab = async (state: 'locked' | 'unlocked') => {
    const other = await context.newPage();
    await other.goto(`${origin}/docs/reference`);
    await other.locator(`.auth-wrapper .authorize.${state}`).first().waitFor();
    await other.close();
  };
  const findParameter = (operation: Locator, name: string) =>
    operation.locator(`tr[data-param-name="${name}"]`).locator('input, select');

  it('runs every operation with its prefilled values and shows the response headers, on a phone without scrolling sideways', async () => {
    await page.setViewportSize({ width: 375, height: 740 });
    await authorize(server.key);
    const created = await executeOperation(await openOperation('createPet'), 201);
    expect(created).toMatch(/"name": "Rex"/);
    expect(created).toMatch(/x-ratelimit-remaining: \d+/);
    expect(created).toMatch(/location: http:\S+\/v1\/pets\/4\b/);
    const get = await openOperation('getPet');
    expect(await executeOperation(get, 200)).toMatch(/"id": 1,[^]+sunset: Thu, ?05 Dec 2030/);
    expect(await executeOperation(await openOperation('listPets'), 200)).toMatch(/"id": 1,[^]+x-request-id: \S+/);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(375);
    const { x = -1, width = 0 } = (await get.locator('.execute').boundingBox()) ?? {};
    expect([x >= 0, x + width <= 375]).toEqual([true, true]);
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

  it('keeps the API key after a reload, but not in another tab', async () => {
    await authorize(server.key);
    await page.reload();
    await page.locator('.auth-wrapper .authorize.locked').first().waitFor();
    await executeOperation(await openOperation('listPets'), 200);
    await expectInAnotherTab('unlocked');
  });

  it('remembers the API key on the device if the reader wants it, until logout', async () => {
    const dialog = await openKeyDialog();
    await dialog.getByRole('checkbox').check();
    await dialog.getByLabel('API key').fill(server.key);
    await dialog.locator('.authorize').click();
    await expectInAnotherTab('locked');
    await dialog.getByText('Logout').click();
    expect(await page.evaluate('localStorage.length + sessionStorage.length')).toBe(0);
  });

  it('works when the browser blocks site data, and when another page has stored something under its names', async () => {
    await page.goto(`${origin}/docs/reference`);
    await page.evaluate(`sessionStorage.setItem('api-keys', 'garbage')`);
    await page.reload();
    await page.locator('.auth-wrapper .authorize.unlocked').first().waitFor();
    const deny = `get() { throw new DOMException('Access is denied', 'SecurityError'); }`;
    await page.addInitScript(
      `for (const name of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(window, name, { configurable: true, ${deny} });
      }`,
    );
    await page.reload();
    await authorize(server.key);
    await executeOperation(await openOperation('listPets'), 200);
  });

  it('accepts an API key as people paste it, and never shows it in full', async () => {
    await authorize(`  "Bearer ${server.key}" `);
    const operation = await openOperation('listPets');
    await executeOperation(operation, 200);
    await page.locator('.auth-wrapper .authorize').first().click();
    expect(await page.locator('.dialog-ux').innerText()).toContain(`${server.key.slice(0, 14)}…`);
    expect(await page.content()).not.toContain(server.key);
  });

  it('says at once what is wrong with an API key', async () => {
    const dialog = await openKeyDialog();
    expect(await dialog.getByLabel('API key').getAttribute('type')).toBe('password');
    const random = server.key.slice('pets_test_'.length);
    for (const [key, problem] of [
      [`pets_live_${random}`, 'This is a live key.'],
      ['sk_123', 'An API key of this service starts with pets_test_.'],
      [server.key.slice(0, -1), 'this one has 58'],
      [server.key.replace(/.$/, (last) => (last === '0' ? '1' : '0')), 'A character of this API key is wrong.'],
      [server.key, ''],
      [`bearer "${server.key}"`, ''],
      [`export KEY='${server.key}'`, ''],
      [`“${server.key}”`, ''],
    ] as const) {
      await dialog.getByLabel('API key').fill(key);
      const text = await dialog.getByRole('status').innerText();
      expect(text).toContain(problem);
      expect(text === '').toBe(problem === '');
    }
    for (const [key, problem] of [
      ['sk_123', 'An API key of this service starts with pets_test_.'],
      ['', 'Enter an API key.'],
    ] as const) {
      await dialog.getByLabel('API key').fill(key);
      await dialog.locator('.authorize').click();
      expect(await dialog.getByRole('status').innerText()).toBe(problem);
      expect(await page.evaluate('document.activeElement.id + sessionStorage.length')).toBe('api-key0');
    }
  });

  it('keeps the focus in the dialog for the API key until it is closed, and then returns it', async () => {
    await openKeyDialog();
    for (const key of [...Array<string>(8).fill('Tab'), ...Array<string>(8).fill('Shift+Tab')]) {
      await page.keyboard.press(key);
      expect(await page.evaluate(`document.activeElement.closest('.dialog-ux') !== null`)).toBe(true);
    }
    await page.keyboard.press('Escape');
    await waitUntil(`document.activeElement.matches('.auth-wrapper .authorize')`);
    // The same for the lock of an operation, and on a screen that is as small as with a zoom of 400%.
    await page.setViewportSize({ width: 320, height: 256 });
    await page.locator('.opblock .authorization__btn').first().click();
    await waitUntil(`document.activeElement.closest('.dialog-ux') !== null`);
    expect((await page.locator('.modal-ux').boundingBox())?.y).toBeGreaterThanOrEqual(0);
    await page.keyboard.press('Escape');
    await waitUntil(`document.activeElement.matches('.opblock .authorization__btn')`);
  });

  it('shows the key entry and the first operation without scrolling, and on a phone within two screens', async () => {
    const readBottoms = () =>
      page.evaluate<number[]>(
        `['.auth-wrapper .authorize', '.opblock'].map((it) => document.querySelector(it).getBoundingClientRect().bottom)`,
      );
    await page.setViewportSize({ width: 1_440, height: 900 });
    await page.goto(`${origin}/docs/reference`);
    await page.locator('.opblock').first().waitFor();
    expect(Math.max(...(await readBottoms()))).toBeLessThan(900);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(Math.max(...(await readBottoms()))).toBeLessThan(2 * 740);
  });

  it('opens operations from a list that stays in view, and goes back through them, each once', async () => {
    await page.setViewportSize({ width: 1_440, height: 900 });
    await page.goto(`${origin}/docs/errors`);
    await page.goto(`${origin}/docs/reference`);
    await page.locator('.opblock').first().waitFor();
    const waitUntilShown = async (operationId: string, name: string) => {
      await waitUntil(
        `(({ top }) => top > 50 && top < 120)(document.querySelector('[id$="-${operationId}"].is-open').getBoundingClientRect())`,
      );
      await page.locator('.operations a[aria-current="location"]', { hasText: name }).waitFor();
      await waitUntil(`document.activeElement.closest('[id$="-${operationId}"]') !== null`);
      expect((await page.locator('#sidebar').boundingBox())?.y).toBeLessThan(100);
    };
    const opened: [operationId: string, name: string][] = [
      ['createPet', 'Add an animal'],
      ['getRateLimit', 'Get the rate limit usage'],
      ['listPets', 'List animals'],
    ];
    // The last one again, although the address bar has it already.
    for (const [operationId, name] of [...opened, ...opened.slice(-1)]) {
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      await page.locator('.operations').getByRole('link', { name }).click();
      await waitUntilShown(operationId, name);
    }
    expect(page.url()).toBe(`${origin}/docs/reference#/pets/listPets`);
    for (const operation of opened.slice(0, -1).reverse()) {
      await page.goBack();
      await waitUntilShown(...operation);
    }
    for (const url of ['/docs/reference', '/docs/errors']) {
      await page.goBack();
      await page.waitForURL(origin + url);
    }
  });

  it('copies every sample and response, and saves the response, in light and dark', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await authorize(server.key);
    const operation = await openOperation('listPets');
    const copyCode = async (block: Locator) => {
      await block.locator('.copy-to-clipboard button').click();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await block.locator('pre').textContent());
    };
    const copySamples = async () => {
      for (const language of ['curl', 'TypeScript', 'JavaScript', 'Python']) {
        await operation.getByRole('tab', { name: language, exact: true }).click();
        await copyCode(operation.locator('.samples .highlight-code'));
      }
    };
    await executeOperation(operation, 200);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await copySamples();
      await copyCode(operation.locator('.live-responses-table .highlight-code').first());
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        operation.locator('.live-responses-table .download-contents').click(),
      ]);
      expect(download.suggestedFilename()).toBe('response.json');
    }
  });

  it('shows a sample of an operation before the first call, with the URL of this service', async () => {
    await page.goto(`${origin}/docs/reference#/pets/createPet`);
    const operation = page.locator('#operations-pets-createPet');
    const code = operation.locator('.samples pre');
    await code.waitFor();
    expect(await code.textContent()).toContain(`curl -i -X POST '${origin}/v1/pets'`);
    await operation.getByRole('tab', { name: 'curl' }).press('ArrowRight');
    expect(await operation.getByRole('tab', { name: 'TypeScript' }).getAttribute('aria-selected')).toBe('true');
    expect(await code.textContent()).toContain(`baseUrl: "${origin}/v1"`);
    expect(await code.textContent()).toContain(
      'petStore.createPet({ body: { name: "Rex", categoryId: 3n, status: "available" } })',
    );
  });

  it('changes the samples as the reader fills in the form', async () => {
    await page.goto(`${origin}/docs/reference#/pets/listPets`);
    const operation = page.locator('#operations-pets-listPets');
    await findParameter(operation, 'limit').fill('6');
    await executeOperation(operation, 401);
    expect(await page.locator('#announcement').textContent()).toBe('Response 401');
    await findParameter(operation, 'limit').fill('7');
    await operation.locator('.samples pre', { hasText: `'${origin}/v1/pets?limit=7'` }).waitFor();
  });

  it('lists the errors of an operation in one table, with links to their explanations', async () => {
    await page.goto(`${origin}/docs/reference#/pets/createPet`);
    const table = page.locator('#operations-pets-createPet .errors table');
    await table.getByRole('link', { name: 'idempotency_key_reused' }).click();
    await page.waitForURL(`${origin}/docs/errors#idempotency_key_reused`);
  });

  it('shows the operations within 1.5 s at 1.6 Mbit/s, while the rest loads', async () => {
    await page.goto(`${origin}/docs`);
    // Without the cache of the other tests.
    const fresh = await browser.newContext();
    const first = await fresh.newPage();
    const session = await fresh.newCDPSession(first);
    const network = { offline: false, latency: 0, downloadThroughput: 200_000, uploadThroughput: 200_000 };
    await session.send('Network.emulateNetworkConditions', network);
    await first.goto(`${origin}/docs/reference`, { waitUntil: 'commit' });
    await first.locator('#content tr').first().waitFor();
    await first.locator('.opblock').first().waitFor();
    const paint = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime`;
    expect(await first.evaluate(paint)).toBeLessThan(1_500);
    await fresh.close();
  });

  it.each(['/docs', '/docs/getting-started', '/docs/errors', '/docs/nothing', '/docs/reference#/pets/createPet'])(
    '%s has no serious problem of accessibility, and nothing wider than the screen, on a phone and a desktop, light and dark',
    async (path) => {
      const problemsFound: unknown[] = [];
      const backgrounds = new Set<string>();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.goto('about:blank');
        await page.goto(origin + path);
        await page.locator('.opblock.is-open .execute, article h1').first().waitFor();
        backgrounds.add(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
        await page.evaluate(AXE);
        for (const width of [320, 360, 820, 1_440]) {
          await page.setViewportSize({ width, height: 900 });
          const violations = await page.evaluate<object[]>(FIND_VIOLATIONS);
          problemsFound.push(...violations.map((violation) => ({ width, colorScheme, ...violation })));
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
        }
      }
      expect(problemsFound).toEqual([]);
      // Each page follows the color scheme of the system.
      expect(backgrounds.size).toBe(2);
    },
  );

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
    await operation.getByText('x-deprecated-sunset').waitFor();
    const isInView = `(({ top }) => top < innerHeight && top >= document.querySelector('header').offsetHeight)(
      document.querySelector('#operations-pets-getPet').getBoundingClientRect())`;
    await waitUntil(isInView);
    expect(await page.locator('.opblock-deprecated').count()).toBe(1);
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

  it('shows animals first and usage last, and the bounds of int64 to the last digit', async () => {
    // The home page opens the reference if its fragment names an operation.
    await page.goto(`${origin}/docs#/pets/createPet`);
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

  it('shows a sent request in JavaScript, Python and curl, and the code runs unchanged', async () => {
    await authorize(server.key);
    const operation = await openOperation('createPet');
    await operation
      .locator('.body-param__text')
      .fill('{ "name": "O\'Malley \\"🐈\\"", "categoryId": 9223372036854775807 }');
    await executeOperation(operation, 201);
    for (const [language, program, options] of [
      ['JavaScript', 'node', ['--input-type=module', '-e']],
      ['Python', 'python3', ['-c']],
      ['curl', 'bash', ['-c']],
    ] as const) {
      await operation.getByRole('tab', { name: language, exact: true }).click();
      const code = await operation.locator('.samples pre code').first().textContent();
      expect(code).not.toContain(server.key);
      const environment = { PATH: process.env.PATH, KEY: server.key };
      const { stdout } = await promisify(execFile)(program, [...options, code ?? ''], { env: environment });
      expect(stdout).toContain('"name":"O\'Malley \\"🐈\\"","categoryId":9223372036854775807');
    }
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

  it('shows all pages and the current section beside the text, and on a phone after a touch', async () => {
    const sidebar = page.getByRole('navigation', { name: 'Documentation' });
    // The last sections cannot reach the top of the window.
    for (const section of ['Bans', 'Deprecation']) {
      await page.goto(`${origin}/docs/api#${section.toLowerCase()}`);
      await sidebar.locator('[aria-current="location"]', { hasText: section }).waitFor();
    }
    await page.setViewportSize({ width: 360, height: 740 });
    await sidebar.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Pages' }).click();
    await sidebar.getByRole('link', { name: 'Errors', exact: true }).last().click();
    await page.locator('h1', { hasText: 'Errors' }).waitFor();
    // By keyboard, the focus does not leave the open menu for the text behind it, and Escape returns it to the button.
    await page.getByRole('button', { name: 'Pages' }).click();
    await sidebar.getByRole('link').last().focus();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(`document.activeElement.closest('#content') === null`)).toBe(true);
    await page.keyboard.press('Escape');
    expect(await page.evaluate('document.activeElement.className')).toBe('menu');
  });

  it('finds a section of the guides and opens it', async () => {
    await page.goto(`${origin}/docs`);
    const search = page.getByRole('combobox', { name: 'Search the documentation' });
    await search.fill('idempotency key reused');
    await page.getByRole('option').first().waitFor();
    await search.press('Enter');
    await page.waitForURL(`${origin}/docs/errors#idempotency_key_reused`);
    await page.getByRole('link', { name: 'API', exact: true }).click();
    expect(await page.locator('h1').innerText()).toMatch(/^The API/);
  });

  it('finds operations, parameters, topics and error codes, the best result first', async () => {
    await page.goto(`${origin}/docs`);
    for (const [query, title] of [
      ['createPet', 'POST /pets createPet'],
      ['GET /pets', 'GET /pets listPets'],
      ['/v1/pets', 'GET /pets listPets'],
      ['petId', 'GET /pets/{petId} getPet'],
      ['retry', 'Safe retries'],
      ['pet_not_found', 'pet_not_found (404)'],
    ] as const) {
      await page.getByRole('combobox').fill(query);
      await page.locator('.results strong').first().getByText(title, { exact: true }).waitFor();
    }
  });

  it('moves through the results by arrow keys', async () => {
    await page.goto(`${origin}/docs`);
    const search = page.getByRole('combobox');
    await search.fill('createPet');
    await page.getByRole('option', { selected: true }).waitFor();
    await search.press('ArrowDown');
    await search.press('ArrowUp');
    expect(await search.getAttribute('aria-activedescendant')).toBe('result-0');
    expect(await page.getByRole('status').textContent()).toMatch(/^\d results$/);
    await search.press('Tab');
    await page.getByRole('option', { selected: true }).waitFor({ state: 'hidden' });
    await search.press('Enter');
    await page.locator('#operations-pets-createPet.is-open').waitFor();
  });

  it('switches between light and dark, and remembers the choice', async () => {
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(`${origin}/docs`);
    await page.getByRole('button', { name: 'Switch between light and dark' }).click();
    await page.goto(`${origin}/docs/reference`);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(20, 24, 30)');
  });

  it('copies an example, says so for a moment, and shows every line of it', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto(`${origin}/docs`);
    const listing = page.locator('.listing:visible', { hasText: 'curl' });
    await listing.hover();
    await listing.getByRole('button', { name: 'Copy' }).click();
    await listing.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await listing.locator('code').textContent());
    await listing.getByRole('button', { name: 'Copy', exact: true }).waitFor();
    expect(
      await page.evaluate(`[...document.querySelectorAll('pre')].every((it) => it.scrollWidth <= it.clientWidth)`),
    ).toBe(true);
  });

  it('shows each request of the guides in other languages too, and remembers the choice', async () => {
    await page.goto(`${origin}/docs/getting-started`);
    const samples = page.getByRole('group', { name: 'Language' });
    const readSamples = () => samples.locator('code:visible').allInnerTexts();
    await samples.last().getByText('Python').click();
    await page.reload();
    const requests = await readSamples();
    expect(requests).toHaveLength(await samples.count());
    expect(requests.every((code) => code.includes('urllib.request.Request('))).toBe(true);
    await samples.first().getByRole('radio', { name: 'Python' }).focus();
    await page.keyboard.press('ArrowLeft');
    expect((await readSamples())[0]).toContain(`await fetch("${origin}/v1/pets"`);
    await page.keyboard.press('ArrowLeft');
    expect((await readSamples())[1]).toContain('await petStore.listPets({ query: { limit: 2 } })');
    await page.keyboard.press('ArrowLeft');
    expect((await readSamples())[0]).toContain(`curl -i ${origin}/v1/pets`);
  });

  it('skips to the content', async () => {
    await page.goto(`${origin}/docs`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
  });

  describe('A page of another origin', () => {
    it('can call the API with a key and read the response headers', async () => {
      const other = createServer((_request, response) => {
        response.setHeader('content-type', 'text/html').end('<link rel="icon" href="data:,"><h1>A shop</h1>');
      });
      await page.goto(`http://127.0.0.1:${await listen(other)}/`);
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
