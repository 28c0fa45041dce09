import type { Locator, Page } from 'playwright-core';

const patched = new WeakSet<object>();

/**
 * Makes `Locator.click` press again if the press has not reached the frame. On a busy machine,
 * Chromium drops some presses in a cross-site frame that Playwright has just scrolled to: neither the
 * page nor the frame gets a `pointerdown`, or only the `pointerup`. Playwright takes that for success.
 * A click that is lost although the frame was pressed is the form's own fault, and is not repeated.
 */
export function repeatLostClicks(page: Page): void {
  const locators = Object.getPrototypeOf(page.locator('html')) as Pick<Locator, 'click'>;
  if (patched.has(locators)) return;
  patched.add(locators);
  const { click } = locators;
  locators.click = async function (this: Locator, options = {}) {
    const { timeout } = options;
    let isLost = true;
    while (isLost) {
      const press = await this.evaluateHandle(
        () => {
          const seen = { isDown: false, isUp: false };
          addEventListener('pointerdown', () => (seen.isDown = true), { capture: true, once: true });
          addEventListener('pointerup', () => (seen.isUp = true), { capture: true, once: true });
          return seen;
        },
        undefined,
        timeout === undefined ? {} : { timeout },
      );
      await click.call(this, options);
      // The frame may be gone now: a click can close it or lead to another page.
      isLost = await press.evaluate(({ isDown, isUp }) => self !== top && !(isDown && isUp)).catch(() => false);
    }
  };
}
