import type { DrivenPage } from './engines/driven.js';
import { eventually } from './engines/eventually.js';
import { frameUser, type FrameUser } from './engines/frame-user.js';
import { openPage } from './open-host.js';
import type { Route } from './serve.js';
import { hostPage, type World } from './world.js';

/** Runs in the page. Frames are numbered in the order they were opened. */
interface RawHost {
  open(address: string, attributes?: Record<string, string>): number;
  post(frame: number, ...messages: unknown[]): void;
  /** Returns the messages of a frame. */
  messages(frame: number): Record<string, unknown>[];
}

declare global {
  var raw: RawHost;
}

const script = `
  const frames = [];
  addEventListener('message', ({ data, source }) => {
    frames.find(({ iframe }) => iframe.contentWindow === source)?.messages.push(data);
  });
  globalThis.raw = {
    open(address, attributes = {}) {
      const iframe = document.createElement('iframe');
      iframe.style.cssText = 'width: 700px; height: 600px; display: block';
      for (const [name, value] of Object.entries(attributes)) iframe.setAttribute(name, value);
      iframe.addEventListener('load', () => (iframe.dataset.loaded = ''));
      frames.push({ iframe, messages: [] });
      iframe.src = address;
      document.body.append(iframe);
      return frames.length - 1;
    },
    post(index, ...messages) {
      for (const message of messages) frames[index].iframe.contentWindow.postMessage(message, '*');
    },
    messages: (index) => frames[index].messages,
  };`;

/** The document of a hostile page that talks to frames itself, without the SDK. */
export const rawPage = hostPage('', `<script>${script}</script>`);

/** Serves that document as `/raw` of a world's host. */
export const rawRoutes: Record<string, Route> = { '/raw': rawPage };

/** Opens the hostile page on the registered origin. */
export const openRaw = (from: { newPage(): Promise<DrivenPage> }, world: World): Promise<DrivenPage> =>
  openPage(from, world, '/raw');

/** Returns the URL of the form for a parent origin. */
export const embedAddress = (world: World, parentOrigin: string): string =>
  `${world.service.url}/embed/?parentOrigin=${encodeURIComponent(parentOrigin)}`;

/** Returns a valid `init` message for a new "Okta System Log". */
export async function initMessage(world: World, changes: Record<string, unknown> = {}): Promise<object> {
  return {
    source: 'monad-embed',
    type: 'init',
    version: 1,
    sessionToken: await world.session(),
    organizationId: world.team,
    typeId: 'okta-systemlog',
    kind: 'input',
    apiBase: world.service.url,
    ...changes,
  };
}

/** A frame of the hostile page. */
export interface RawFrame extends FrameUser {
  index: number;
  messages(): Promise<Record<string, unknown>[]>;
  post(...messages: unknown[]): Promise<void>;
}

/** Opens a form on the hostile page and waits until it is ready. */
export async function openRawFrame(page: DrivenPage, world: World): Promise<RawFrame> {
  const address = embedAddress(world, world.host);
  const index = await page.evaluate((address) => raw.open(address), address);
  const user = frameUser(page, () => page.evaluateHandle((index) => document.querySelectorAll('iframe')[index], index));
  const messages = (): Promise<Record<string, unknown>[]> => page.evaluate((index) => raw.messages(index), index);
  await eventually('ready', async () => (await messages()).find(({ type }) => type === 'ready'));
  return {
    ...user,
    index,
    messages,
    post: (...messages) => page.evaluate(({ index, messages }) => raw.post(index, ...messages), { index, messages }),
  };
}
