import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import type { ConnectorConfigSchema } from '@connector-frame/catalog/types';
import en from '../../packages/form/src/messages/en.json' with { type: 'json' };
import { exampleConnector, exampleType } from '../../packages/form/src/testing/example-type.js';
import { isSaid, pageStates } from '../../packages/form/src/testing/message-states.js';
import type { openForm, OpenedForm } from '../../packages/form/src/testing/open-form.js';
import { launchBrowser } from '../support/browser.js';
import { useGallery } from '../support/gallery.js';
import { dailyPart } from '../support/long.js';
import { callbacks, mount, openPage } from '../support/open-host.js';
import { startWorld, type World } from '../support/world.js';

/**
 * Drives the real view, with a real form and an in-memory service, into the states of
 * `message-states.ts` whose messages a page shows, and the form in its frame into the others.
 */

declare global {
  var openLive: typeof openForm;
  var errorResponse: (status: number, type: string, details?: object) => Response;
  var releaseCall: () => void;
}

type Live = Pick<OpenedForm, 'service' | 'session'> & { form: OpenedForm['form'] };

const text = <R extends object>(title: string, rules: R) => ({ type: 'string', title, ...rules }) as const;

const config: ConnectorConfigSchema = {
  settings: {
    type: 'object',
    additionalProperties: false,
    required: ['url', 'region'],
    properties: {
      url: text('Address', { format: 'uri', 'x-destination': true } as const),
      region: text('Region', { enum: ['a', 'b', 'c', 'd', 'e'] }),
      plan: text('Plan', { enum: ['a', 'b'] }),
      size: { type: 'integer', title: 'Size', minimum: 1, maximum: 9 },
      least: { type: 'integer', title: 'Least', minimum: 1 },
      most: { type: 'integer', title: 'Most', maximum: 9 },
      since: text('Since', { format: 'date-time' } as const),
      schedule: text('Schedule', { format: 'cron' } as const),
      headers: { type: 'object', title: 'Headers', additionalProperties: { type: 'string' } },
      certificate: text('Certificate', { format: 'pem' } as const),
      legacy: text('Legacy', { deprecated: true }),
      debug: text('Debug', { 'x-advanced': true }),
    },
  },
  secrets: {
    type: 'object',
    additionalProperties: false,
    required: ['token'],
    properties: {
      token: text('Token', { writeOnly: true } as const),
      spare: text('Spare', { writeOnly: true } as const),
      webhook: text('Webhook', { writeOnly: true, 'x-destination': true } as const),
      key: text('Key', { writeOnly: true, 'x-local': true } as const),
    },
  },
};
const type = { ...exampleType, order: [], config };
const kept = (id: string) => ({ id, updated_at: '2026-11-12T08:30:00Z' });
const connector = {
  ...exampleConnector,
  config: {
    settings: { url: 'https://acme.example', region: 'a' },
    secrets: { token: kept('sec_1'), spare: kept('sec_2') },
  },
};
const editable = { isNameEditable: true, isDescriptionEditable: true };

/**
 * Collects what a page says: visible text, by text node and by element, and the names and
 * placeholders of controls, through shadow roots.
 */
function collect(): string[] {
  const said = new Set<string>();
  const add = (value: string | null): unknown => value && said.add(value.replaceAll(/\s+/g, ' ').trim());
  const visit = (root: Document | ShadowRoot): void => {
    for (const element of root.querySelectorAll('body *, :host *')) {
      if (!element.checkVisibility({ visibilityProperty: true }) && element.tagName !== 'OPTION') continue;
      const own = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.nodeValue?.trim());
      if (own.length > 0) add(element.textContent);
      for (const node of own) add(node.nodeValue);
      for (const name of ['aria-label', 'placeholder']) add(element.getAttribute(name));
      if (element.shadowRoot) visit(element.shadowRoot);
    }
  };
  visit(document);
  return [...said];
}

const gallery = useGallery();
const said = (page: Page): Promise<string[]> => page.evaluate(collect);

/** Opens the gallery with a form for the type above. */
async function live(init: object = {}, saved = connector): Promise<Page> {
  const page = await gallery.live();
  await page.evaluate((options) => openLive(...options), [init, { type, connector: saved }] as const);
  await page.getByRole('button', { name: 'Cancel' }).waitFor();
  return page;
}

/** Makes the next request of the form wait for `releaseCall`. */
const holdCall = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const { service } = globalThis as unknown as Live;
    service.next.push(new Promise((resolve) => (globalThis.releaseCall = () => resolve(undefined))));
  });

const failNext = (page: Page, status: number, errorType: string): Promise<void> =>
  page.evaluate(([code, name]) => void (globalThis as unknown as Live).service.next.push(errorResponse(code, name)), [
    status,
    errorType,
  ] as const);

async function fill(page: Page): Promise<void> {
  await page.getByLabel('Address').fill('https://acme.example');
  await page.getByLabel('Region').selectOption('a');
  await page.getByLabel('Token', { exact: true }).fill('tok-123');
  await page.getByLabel('Address').focus();
}

const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();

async function chooseFile(page: Page, content: Buffer): Promise<string[]> {
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), press(page, 'Choose a file for Certificate')]);
  await chooser.setFiles({ name: 'ca.pem', mimeType: 'text/plain', buffer: content });
  await page.locator('[id="cf/settings/certificate"] ~ .cf-drop + .cf-help, .cf-multiline .cf-help').first().waitFor();
  return said(page);
}

/** Returns what a page says once it says a message, which may take a moment. */
async function saidSoon(page: Page, message: RegExp): Promise<string[]> {
  await expect.poll(async () => (await said(page)).some((one) => message.test(one))).toBe(true);
  return said(page);
}

type PageState = keyof typeof pageStates;
type FrameState = Extract<
  PageState,
  | 'the page covers a secret control'
  | 'the page speaks another version of the protocol'
  | 'the page names another service'
  | 'a style sheet of the page cannot be loaded'
  | 'a role is set up at AWS'
  | 'a key pair is created'
>;

const drivers: Record<Exclude<PageState, FrameState>, () => Promise<string[]>> = {
  'the form is loading': async () => {
    const page = await gallery.live();
    return page.evaluate(
      (options) => {
        openLive({}, options);
        return [document.querySelector('[role=status]')?.textContent ?? ''];
      },
      { type, connector },
    );
  },
  'the form could not be loaded': async () => {
    const page = await gallery.live();
    await page.evaluate(
      (options) => {
        openLive({}, options);
        // The requests are sent later.
        (globalThis as unknown as Live).service.next.push(errorResponse(500, 'internal_error'));
      },
      { type, connector },
    );
    return saidSoon(page, /Try again/);
  },
  'a new connector, nothing is entered': async () => said(await live(editable)),
  'values are entered': async () => {
    const page = await live();
    await fill(page);
    await page.getByLabel('Since').fill('2026-11-12T09:30');
    return said(page);
  },
  'a secret is shown': async () => {
    const page = await live();
    await fill(page);
    await press(page, 'Show Token');
    return said(page);
  },
  'a schedule is entered': async () => {
    const page = await live();
    const all: string[] = [];
    for (const cron of ['*/5 * * * *', '10 * * * *', '30 6 * * *', '0 6 * * 1', '5 4 * * 1-5', '15 3 1 * *']) {
      await page.getByLabel('Schedule').fill(cron);
      all.push(...(await said(page)));
    }
    return all;
  },
  'a row was added': async () => {
    const page = await live();
    await press(page, 'Add to Headers');
    return said(page);
  },
  'a row was removed': async () => {
    const page = await live();
    await press(page, 'Add to Headers');
    await press(page, 'Remove Headers 1');
    return said(page);
  },
  'a file was read': async () => chooseFile(await live(), Buffer.from('-----BEGIN')),
  'a file is too large': async () => chooseFile(await live(), Buffer.alloc(300_000, 'a')),
  'a file is not text': async () => chooseFile(await live(), Buffer.from([0, 1, 2])),
  'a saved connector': async () => said(await live({ existingId: 'con_1' })),
  'a stored secret is being replaced': async () => {
    const page = await live({ existingId: 'con_1' });
    await press(page, 'Replace Token');
    return said(page);
  },
  'a stored secret is cleared': async () => {
    const page = await live({ existingId: 'con_1' });
    await press(page, 'Clear Spare');
    return said(page);
  },
  'the destination of a stored secret changed': async () => {
    const page = await live({ existingId: 'con_1' });
    await page.getByLabel('Address').fill('https://other.example');
    return said(page);
  },
  'problems prevent a save': async () => {
    const page = await live();
    await press(page, 'Save');
    return saidSoon(page, /fix before saving/);
  },
  'the problems are fixed': async () => {
    const page = await live();
    await press(page, 'Save');
    await fill(page);
    return saidSoon(page, /fixed/);
  },
  'a connection test is running': async () => {
    const page = await live();
    await fill(page);
    await holdCall(page);
    await press(page, 'Test connection');
    return saidSoon(page, /Testing/);
  },
  'the connection test passed': async () => {
    const page = await live();
    await fill(page);
    await press(page, 'Test connection');
    return saidSoon(page, /works/);
  },
  'a save is running': async () => {
    const page = await live();
    await fill(page);
    await holdCall(page);
    await press(page, 'Save');
    return saidSoon(page, /Saving/);
  },
  'the connector was saved': async () => {
    const page = await live();
    await fill(page);
    await press(page, 'Save');
    return saidSoon(page, /^Saved/);
  },
  'the connector was changed elsewhere': async () => {
    const page = await live({ existingId: 'con_1' });
    await page.getByLabel('Region').selectOption('b');
    await failNext(page, 412, 'precondition_failed');
    await press(page, 'Save changes');
    return saidSoon(page, /Someone else/);
  },
  'the session ended': async () => {
    const page = await live();
    await fill(page);
    await failNext(page, 401, 'token_expired');
    await press(page, 'Save');
    return saidSoon(page, /session ended/);
  },
  'the user cancels with unsaved edits': async () => {
    const page = await live();
    await fill(page);
    await press(page, 'Cancel');
    return said(page);
  },
  'a secret control is not all in view': async () => {
    const page = await live();
    await page.getByLabel('Token', { exact: true }).focus();
    await page.setViewportSize({ width: 560, height: 40 });
    return saidSoon(page, /^Scroll/);
  },
};

/** Returns the expected messages of a state that are missing from `all`. */
const missing = (state: PageState, all: readonly string[]): string[] =>
  pageStates[state].filter((key) => !isSaid(all, en, key));

describe('a form in which', () => {
  test.each(dailyPart(Object.entries(drivers), 5))('%s says so', async (state, drive) => {
    const all = await drive();
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.entries widens the key
    expect(missing(state as PageState, all), all.join(' | ')).toEqual([]);
  });
});

describe('a form in its frame, when', () => {
  let browser: Browser;
  let world: World;
  let page: Page;

  beforeAll(async () => {
    [browser, world] = await Promise.all([launchBrowser(), startWorld()]);
  });
  afterAll(async () => {
    await Promise.all([browser?.close(), world?.close()]);
  });
  afterEach(() => page?.close());

  /** Waits for an error, and returns what the frame and the error say, and what the console got. */
  async function toldOf(code: string, logged: readonly string[]): Promise<string[]> {
    await expect.poll(() => callbacks(page)).toContainEqual(expect.objectContaining({ type: 'error', code }));
    const told = (await callbacks(page)).flatMap((call) => (call.code === code ? [call.message ?? ''] : []));
    expect(logged.some((line) => line.includes(told[0] ?? '?'))).toBe(true);
    const frame = page.frames()[1];
    const body = (await frame?.evaluate(() => document.body.innerText)) ?? '';
    // Sentences are joined in a page that is plain text.
    return [...told, ...body.split(/\.\s*/), ...body.split('. '), ...((await frame?.evaluate(collect)) ?? [])];
  }

  const frameDrivers: Record<FrameState, (logged: string[]) => Promise<string[]>> = {
    'the page covers a secret control': async (logged) => {
      await mount(page, world);
      const token = page.frameLocator('iframe').getByLabel('API token', { exact: true });
      await token.focus();
      await page.evaluate(() => {
        const cover = document.createElement('div');
        cover.style.cssText = 'position: fixed; inset: 0; background: white; opacity: 0.99; pointer-events: none';
        document.body.append(cover);
      });
      await page.keyboard.type('a');
      return toldOf('frame_covered', logged);
    },
    'the page speaks another version of the protocol': async (logged) => {
      await page.evaluate(
        ([src, host]) => {
          Object(globalThis).callbacks.length = 0;
          const iframe = document.createElement('iframe');
          addEventListener('message', ({ data }) => {
            if (data.type === 'ready')
              iframe.contentWindow?.postMessage({ source: 'monad-embed', type: 'init', version: 99 }, src);
            if (data.type === 'error') Object(globalThis).callbacks.push({ ...data });
          });
          iframe.src = `${src}/embed/?parentOrigin=${encodeURIComponent(host)}`;
          document.body.append(iframe);
        },
        [world.service.url, world.host] as const,
      );
      return toldOf('protocol_mismatch', logged);
    },
    'the page names another service': async (logged) => {
      await mount(page, world, { apiBase: 'http://localhost:1' });
      return toldOf('api_base_mismatch', logged);
    },
    'a style sheet of the page cannot be loaded': async (logged) => {
      await mount(page, world, { stylesheets: [`${world.host}/missing.css`] });
      return toldOf('stylesheet_failed', logged);
    },
    'a role is set up at AWS': async () => {
      const trust = { external_id: 'id', account_id: '1', trust_policy: {}, partition: 'aws', role_template: {} };
      const uploaded = { ...trust, role_template_url: 'https://acme.s3.amazonaws.com/role.json' };
      const all: string[] = [];
      for (const json of [{ ...trust, account_id: null }, uploaded, { ...trust, role_template_url: null }]) {
        await page.route('**/v1/*/aws', (route) => route.fulfill({ json }));
        await page.goto(world.host);
        await mount(page, world, { typeId: 's3' });
        const form = page.frameLocator('iframe');
        await form.getByText('Create the role in AWS').click();
        await form.getByText(json.account_id === null ? /^This service/ : 'Trust policy').waitFor();
        if (json.account_id !== null) await form.getByRole('button', { name: 'Copy: External ID' }).click();
        all.push(...((await page.frames()[1]?.evaluate(collect)) ?? []));
        // The template separates values by commas.
        await form.getByLabel('Bucket').fill('a,b');
        all.push(...((await page.frames()[1]?.evaluate(collect)) ?? []));
      }
      return all;
    },
    'a key pair is created': async () => {
      await mount(page, world, { typeId: 'snowflake' });
      const form = page.frameLocator('iframe');
      await form.getByText('Register the public key in Snowflake').click();
      await form.getByRole('button', { name: 'Create a key pair' }).click();
      await form.getByText(/^Created/).waitFor();
      return (await page.frames()[1]?.evaluate(collect)) ?? [];
    },
  };

  test.each(dailyPart(Object.entries(frameDrivers), 5))('%s, says so where it belongs', async (state, drive) => {
    const logged: string[] = [];
    page = await openPage(browser, world);
    page.on('console', (message) => logged.push(message.text()));
    const all = await drive(logged);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Object.entries widens the key
    expect(missing(state as PageState, all), all.join(' | ')).toEqual([]);
    // The user reads none of the texts for developers.
    const frame = page.frames()[1];
    const shown = (await frame?.evaluate(() => document.body.innerText)) ?? '';
    for (const text of Object.values(en.developer)) expect(shown).not.toContain(text);
  });
});
