import type { Locator } from 'playwright-core';

/**
 * Clicks a button in a cross-origin frame until the click arrives. For half a second after a scroll,
 * Chromium drops clicks into a frame that checks whether it is covered, as the form does after an
 * edit of a secret.
 */
export async function press(button: Locator): Promise<void> {
  for (;;) {
    const click = await button.evaluateHandle((target) => {
      const seen = { arrived: false };
      target.addEventListener('click', () => (seen.arrived = true), { once: true });
      return seen;
    });
    await button.click();
    // The frame may be gone: then the click arrived.
    if (await click.evaluate(({ arrived }) => arrived).catch(() => true)) return;
  }
}
