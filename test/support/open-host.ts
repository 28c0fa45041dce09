import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { World } from './world.js';

/** What the host page's callbacks were given, in order. */
export interface Heard {
  type: 'ready' | 'save' | 'cancel' | 'error';
  code?: string;
  message?: string;
  connector?: { id: string; name?: string };
}

/**
 * Opens the host page and mounts a frame for "Okta System Log".
 * @param options over those of `createConnectorFrame`; `fetchSession: true` asks the test (see `world.session`) for each session
 */
export async function openHost(
  from: Browser | BrowserContext,
  world: World,
  options: Record<string, unknown> = {},
): Promise<Page> {
  const page = await from.newPage();
  await page.goto(world.host);
  await page.waitForFunction(() => 'mount' in globalThis);
  await mount(page, world, options);
  return page;
}

/** Mounts a frame on a host page that is open already. */
export async function mount(page: Page, world: World, options: Record<string, unknown> = {}): Promise<void> {
  const { fetchSession, ...rest } = options;
  const given = {
    organizationId: world.team,
    kind: 'input',
    typeId: 'okta-systemlog',
    frameOrigin: `${world.service.url}/embed`,
    apiBase: world.service.url,
    ...(fetchSession === undefined && { sessionToken: await world.session() }),
    ...rest,
  };
  if (fetchSession !== undefined) {
    await page.exposeFunction('fetchSession', async () => ({ sessionToken: await world.session() }));
  }
  await page.evaluate((options) => {
    const { mount, fetchSession } = globalThis as unknown as { mount(options: object): void; fetchSession?: unknown };
    mount({ ...options, ...(fetchSession !== undefined && { fetchSession }) });
  }, given);
}

/** What the host page's callbacks were given so far. */
export function heard(page: Page): Promise<Heard[]> {
  return page.evaluate(() => (globalThis as unknown as { heard: Heard[] }).heard);
}

/** Every message the page got from the frame, as data. */
export function messages(page: Page): Promise<Record<string, unknown>[]> {
  return page.evaluate(() => (globalThis as unknown as { messages: Record<string, unknown>[] }).messages);
}
