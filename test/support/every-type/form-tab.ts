import type { ConnectorTypeData } from '@connector-frame/catalog';
import type { Browser, Frame, Page } from 'playwright-core';
import type { World } from '../world.js';
import { axeViolations } from '../axe-violations.js';
import { fill, snapshot, pressSave, type FormSnapshot } from './in-form.js';
import type { Leaf } from './expected-form.js';
import { press } from '../press.js';

/** Globals of the world's host page. */
declare global {
  var callbacks: unknown[];
  var frame: { destroy(): void };
  var mount: (options: object) => void;
}

interface CallbackCall {
  type: string;
  connector?: { id: string };
  message?: string;
  code?: string;
}

/** A tab of the host page that shows one form after another. */
export interface FormTab {
  /** Replaces the mounted form with a new one and waits until it is ready. */
  open(type: ConnectorTypeData, options?: Record<string, unknown>): Promise<void>;
  snapshot(): Promise<FormSnapshot>;
  /**
   * Fills in all leaves at once by script.
   * @throws Error if a leaf has no control
   */
  fill(leaves: Leaf[]): Promise<void>;
  rename(name: string): Promise<void>;
  /** Fills in one leaf after another with real key and mouse input. */
  fillByHand(leaves: Leaf[]): Promise<void>;
  /**
   * Presses Save, and again if the form asks to look at the destinations first, as it does when the
   * browser takes seconds to report what is visible. Resolves with the saved connector's id, or
   * undefined if the form shows an error summary.
   */
  save(): Promise<string | undefined>;
  /** Returns axe's violations in the form. */
  axe(): Promise<string[]>;
}

/**
 * Opens a tab in a new browser context. Its time zone is UTC, so that a local time equals the
 * stored one.
 */
export async function openFormTab(browser: Browser, world: World): Promise<FormTab> {
  const context = await browser.newContext({ timezoneId: 'UTC', reducedMotion: 'reduce' });
  const page: Page = await context.newPage();
  const pageErrors: string[] = [];
  page.on('pageerror', (error) => pageErrors.push(error.message));
  await page.goto(world.host);
  let inside: Frame | undefined;
  const form = (): Frame => {
    if (pageErrors.length > 0) throw new Error(pageErrors.splice(0).join('\n'));
    if (!inside) throw new Error('no form is open');
    return inside;
  };
  const waitForCallback = async (types: string[]): Promise<CallbackCall> => {
    const event = await page.waitForFunction((wanted) => {
      const calls = globalThis.callbacks as CallbackCall[];
      return calls.find(({ type }) => wanted.includes(type));
    }, types);
    return (await event.jsonValue()) ?? { type: 'nothing' };
  };

  const fillAll = async (leaves: Leaf[]): Promise<void> => {
    const missed = await form().evaluate(fill, leaves);
    if (missed.length > 0) throw new Error(`no control for ${missed.join(', ')}`);
  };

  return {
    async open(type, options = {}) {
      await page.evaluate(
        (given) => {
          globalThis.frame?.destroy();
          globalThis.callbacks.length = 0;
          globalThis.mount(given);
        },
        {
          kind: type.kind,
          typeId: type.type_id,
          organizationId: world.team,
          sessionToken: await world.session(),
          frameOrigin: `${world.service.url}/embed/`,
          apiBase: world.service.url,
          loadTimeout: 60_000,
          ...options,
        },
      );
      const event = await waitForCallback(['ready', 'error']);
      if (event.type !== 'ready') throw new Error(`the form did not open: ${event.message}`);
      const iframe = await page.$('iframe');
      inside = (await iframe?.contentFrame()) ?? undefined;
      await form().waitForSelector('.cf-form');
    },

    snapshot: () => form().evaluate(snapshot),

    fill: fillAll,
    rename: (name) => fillAll([{ path: '/name', value: name, control: 'text' }]),

    async fillByHand(leaves) {
      for (const { path, value, words } of leaves) {
        const control = form().locator(`[id="cf${path}"]`);
        if (typeof value === 'object') await press(control.locator(':scope > .cf-add'));
        else if (typeof value === 'boolean') await control.setChecked(value);
        else if ((await control.getAttribute('role')) === 'radiogroup')
          await control.getByRole('radio', { name: words ?? value, exact: true }).click();
        else {
          const typed = control.and(form().locator('input, select, textarea')).or(control.locator('input, textarea'));
          const isSelect = await typed.evaluate(({ localName }: Element) => localName === 'select');
          if (isSelect) await typed.selectOption({ value });
          else if ((await typed.getAttribute('type')) === 'datetime-local')
            await typed.fill(value.replace(/(:00)?Z$/, ''));
          else await typed.fill(value);
        }
      }
    },

    async save() {
      for (;;) {
        await form().evaluate(pressSave);
        // The frame reports a save to the page, and a rejection to the user.
        const refused = form()
          .waitForSelector('#cf-summary a')
          .then(() => undefined);
        refused.catch(() => undefined);
        const called = waitForCallback(['save', 'error']);
        called.catch(() => undefined);
        const event = await Promise.race([refused, called]);
        if (event?.type !== 'error') return event?.connector?.id;
        if (event.code !== 'destination_not_seen') throw new Error(`not saved: ${event.message}`);
        await page.evaluate(() => void (globalThis.callbacks.length = 0));
      }
    },

    axe: () => axeViolations(form()),
  };
}
