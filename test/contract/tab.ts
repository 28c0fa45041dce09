import type { DrivenPage } from '../support/engines/driven.js';
import { frameUser, type FrameUser } from '../support/engines/frame-user.js';
import type { Observed } from './observe.js';
import type { CallbackCall } from './adapter.js';

/** A host page in a browser tab. `box` defaults to `form`. */
export interface Tab {
  page: DrivenPage;
  /**
   * Mounts a form: by default, a new Okta connector of the team.
   * @param changes override the default settings; null removes one
   */
  mount(changes?: Record<string, unknown>, box?: string): Promise<void>;
  /**
   * Renders again.
   * @param changes override the current settings; null removes one
   */
  update(changes?: Record<string, unknown>, box?: string): Promise<void>;
  unmount(box?: string): Promise<void>;
  form(box?: string): FrameUser;
  callbacks(box?: string): Promise<CallbackCall[]>;
  observed(): Promise<Observed>;
  /** Counts the iframes of the whole page, including those in shadow roots. */
  iframes(): Promise<number>;
}

/**
 * Creates the driver of a tab.
 * @param defaults settings of every mounted form
 */
export function tabOf(page: DrivenPage, defaults: () => Promise<Record<string, unknown>>): Tab {
  return {
    page,
    async mount(changes = {}, box = 'form') {
      const settings = { ...(await defaults()), ...changes };
      await page.evaluate(({ settings, box }) => contract.mount(settings, box), { settings, box });
    },
    update: (changes = {}, box = 'form') =>
      page.evaluate((given) => contract.update(given.changes, given.box), { changes, box }),
    unmount: (box = 'form') => page.evaluate((box) => contract.unmount(box), box),
    form: (box = 'form') => frameUser(page, () => page.evaluateHandle((box) => contract.iframes(box)[0], box)),
    callbacks: (box = 'form') => page.evaluate((box) => contract.callbacks(box), box),
    observed: () => page.evaluate(() => observed),
    iframes: () => page.evaluate(() => contract.iframes('container').length),
  };
}
