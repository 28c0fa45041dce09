import { expect, test } from 'vitest';
import { serve } from '../../support/serve.js';
import { fill, ORG_URL, TOKEN, fieldValues } from '../okta.js';
import type { Use } from '../run-frame-contract.js';

/** Hostile windows on the page, and what they could find. */
export function hostile({ fixture, open }: Use): void {
  test('ignores messages from other windows and origins', async () => {
    const tab = await open();
    await tab.page.evaluate(() => {
      const sibling = Object.assign(document.createElement('div'), { id: 'sibling' });
      document.querySelector('#form')?.before(sibling);
    });
    await tab.mount();
    await tab.mount({}, 'sibling');
    await expect.poll(() => tab.callbacks()).toEqual([['ready']]);
    await expect.poll(() => tab.callbacks('sibling')).toEqual([['ready']]);
    await fill(tab.form());

    // From another window on the same origin as the form, then from the page itself.
    const frame = await tab.form('sibling').frame();
    await frame.evaluate(forgeMessages);
    await tab.page.evaluate(forgeMessages);
    await expect.poll(() => tab.callbacks('sibling')).toContainEqual(['save', { id: 'con_forged' }]);
    expect(await tab.callbacks()).toEqual([['ready']]);
    expect(await fieldValues(tab.form())).toEqual([ORG_URL, TOKEN]);
  });

  test('ignores messages from its frame after navigation to another origin', async () => {
    const code = `(${forgeMessages.toString()})(); parent.postMessage('sent', '*');`;
    const attacker = await serve({ '/': `<!doctype html><script>${code}</script>` });
    const tab = await open();
    await tab.mount();
    await expect.poll(() => tab.callbacks()).toEqual([['ready']]);
    await tab.page.evaluate(() =>
      addEventListener('message', ({ data }) => data === 'sent' && (document.title = data)),
    );
    const frame = await tab.form().frame();
    await frame.evaluate((href) => void (location.href = href), attacker.origin);
    await expect.poll(() => tab.page.title()).toBe('sent');
    expect(await tab.callbacks()).toEqual([['ready']]);
    expect(await tab.iframes()).toBe(1);
    await attacker.close();
  });

  test('keeps the token out of the page', async () => {
    const tab = await open();
    const sessionToken = await fixture().world.session();
    await tab.mount({ sessionToken });
    await fill(tab.form());
    const everything = await tab.page.evaluate(() => {
      const found = [location.href, document.title, document.cookie, JSON.stringify(history.state), window.name];
      for (const storage of [localStorage, sessionStorage]) found.push(...Object.entries(storage).flat());
      const collect = (root: ParentNode): void => {
        for (const element of root.querySelectorAll('*')) {
          found.push(...[...element.attributes].map(({ value }) => value), element.textContent ?? '');
          if (element.shadowRoot) collect(element.shadowRoot);
        }
      };
      collect(document);
      return found.concat(performance.getEntriesByType('resource').map(({ name }) => name)).join('\n');
    });
    // Positive control: the frame's title and the page's scripts are included.
    expect(everything).toContain('Okta System Log');
    for (const part of [sessionToken, ...sessionToken.split('.').filter((part) => part.length > 20), TOKEN]) {
      expect(everything).not.toContain(part);
    }
    const frame = await tab.form().frame();
    expect(frame.url()).not.toContain(sessionToken);
  });
}

/** Runs in a window that is not the form's: sends forged form messages to the page. */
function forgeMessages(): void {
  for (const message of [
    { type: 'saved', connector: { id: 'con_forged' } },
    { type: 'cancel' },
    { type: 'error', code: 'save_failed', message: 'forged' },
    { type: 'resize', height: 1 },
  ]) {
    parent.postMessage({ source: 'monad-embed', ...message }, '*');
  }
}
