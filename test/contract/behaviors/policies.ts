import { expect } from 'vitest';
import type { LimitName } from '../../support/engines/limits.js';
import type { PageKind } from '../host-page.js';
import { fill } from '../okta.js';
import type { Use } from '../run-frame-contract.js';

const pages: { name: string; kind: PageKind; needs?: LimitName }[] = [
  { name: 'the strictest content security policy', kind: 'strict' },
  { name: 'Trusted Types', kind: 'trusted-types' },
  { name: 'COEP: require-corp', kind: 'coep', needs: 'coepCredentialless' },
];

/** Pages with strict policies. */
export function policies({ open, testUnless }: Use): void {
  for (const { name, kind, needs } of pages) {
    testUnless(needs, `saves on a page with ${name} without violations`, async () => {
      const tab = await open(kind);
      await tab.mount({ sessionToken: null, fetchSession: true });
      await fill(tab.form());
      await tab.form().press('Save');
      await expect.poll(() => tab.callbacks()).toEqual([['ready'], ['save', expect.anything()]]);
      expect(await tab.observed()).toMatchObject({ violations: [], uncaught: [] });
      await tab.unmount();
      expect((await tab.observed()).violations).toEqual([]);
    });
  }

  // Not filled in: within such a page in Firefox, a driver's keys and clicks do not reach any
  // cross-site frame, whatever its content.
  testUnless('coepCredentialless', 'is shown on a page with cross-origin isolation', async () => {
    const tab = await open('isolated');
    await tab.mount();
    await expect.poll(() => tab.callbacks()).toEqual([['ready']]);
    await tab.form().value('Organization URL');
    expect(await tab.page.evaluate(() => crossOriginIsolated)).toBe(true);
    expect(await tab.observed()).toMatchObject({ violations: [], uncaught: [] });
  });
}
