import type { DrivenPage } from '../support/engines/driven.js';
import { frameUser, type FrameUser } from '../support/engines/frame-user.js';
import type { Observed } from './observe.js';
import type { Heard } from './way.js';

/** A host page in a browser's tab. Where a box is not named, it is `form`. */
export interface Tab {
  page: DrivenPage;
  /** Puts a form on the page: a new Okta connector of the team. @param changes over those settings; null leaves one out */
  mount(changes?: Record<string, unknown>, box?: string): Promise<void>;
  /** Renders again. @param changes over the settings so far; null takes one back */
  update(changes?: Record<string, unknown>, box?: string): Promise<void>;
  unmount(box?: string): Promise<void>;
  form(box?: string): FrameUser;
  heard(box?: string): Promise<Heard[]>;
  observed(): Promise<Observed>;
  /** Iframes of the whole page, in shadow roots too. */
  iframes(): Promise<number>;
}

/** @param defaults settings of every form that is mounted */
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
    heard: (box = 'form') => page.evaluate((box) => contract.heard(box), box),
    observed: () => page.evaluate(() => observed),
    iframes: () => page.evaluate(() => contract.iframes('room').length),
  };
}
