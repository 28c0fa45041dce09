import type { DrivenPage } from './engines/driven.js';
import { eventually } from './engines/eventually.js';
import type { World } from './world.js';

/** One call of a host page callback. */
export interface CallbackCall {
  type: 'ready' | 'save' | 'cancel' | 'error';
  code?: string;
  message?: string;
  connector?: { id: string; name?: string };
}

/** A page of any engine's driver. */
export type HostPage = Pick<DrivenPage, 'goto' | 'evaluate'>;

/**
 * Opens the host page and mounts a frame for "Okta System Log".
 * @param options override the options of `createConnectorFrame`; with `fetchSession: true`, each
 *   session is fetched from the page's server
 * @param path path of the host page
 */
export async function openHost<P extends HostPage>(
  from: { newPage(): Promise<P> },
  world: World,
  options: Record<string, unknown> = {},
  path = '/',
): Promise<P> {
  const page = await openPage(from, world, path);
  await mount(page, world, options);
  return page;
}

/** Opens the host page without a frame. */
export async function openPage<P extends HostPage>(
  from: { newPage(): Promise<P> },
  world: World,
  path = '/',
): Promise<P> {
  const page = await from.newPage();
  await page.goto(world.host + path);
  await eventually('the script of the host page', () => page.evaluate(() => 'mount' in globalThis || undefined));
  return page;
}

/** Mounts a frame on an open host page. */
export async function mount(page: HostPage, world: World, options: Record<string, unknown> = {}): Promise<void> {
  const given = {
    organizationId: world.team,
    kind: 'input',
    typeId: 'okta-systemlog',
    frameOrigin: `${world.service.url}/embed`,
    apiBase: world.service.url,
    ...(options['fetchSession'] === undefined && { sessionToken: await world.session() }),
    ...options,
  };
  await page.evaluate((options) => Object(globalThis).mount(options), given);
}

/** Returns the callbacks of the host page so far, in order. */
export function callbacks(page: HostPage): Promise<CallbackCall[]> {
  return page.evaluate(() => Object(globalThis).callbacks);
}

/** Returns every message the page has received from the frame. */
export function messages(page: HostPage): Promise<Record<string, unknown>[]> {
  return page.evaluate(() => Object(globalThis).messages);
}
