// What the tests need of a browser driver. Playwright (Chromium) and Puppeteer (Firefox) have these methods already;
// `webdriver-page.ts` implements them for WebKit. A function that runs in the page takes one JSON value.

export type EngineName = 'Chromium' | 'Firefox' | 'WebKit';

interface Context {
  evaluate<R, A = undefined>(run: (given: A) => R | Promise<R>, given?: A): Promise<R>;
  evaluateHandle<A = undefined>(run: (given: A) => unknown, given?: A): Promise<{ asElement(): DrivenElement | null }>;
}

export interface DrivenElement {
  evaluate<R>(run: (element: HTMLElement) => R): Promise<R>;
  evaluateHandle<T>(run: (element: HTMLElement) => T): Promise<{ evaluate<R>(run: (value: T) => R): Promise<R> }>;
  /** A real pointer in the middle of the element. The browser may drop the click: see `clickOn`. */
  click(): Promise<void>;
  /** Scrolls the element into sight, where focus does not. */
  reveal?(): Promise<void>;
  /** The frame of an iframe, also of another site. */
  contentFrame(): Promise<DrivenFrame | null>;
}

export interface DrivenFrame extends Context {
  url(): string | Promise<string>;
}

/** Presses real keys; they go to the element with focus, in whatever frame it is. */
export interface DrivenKeyboard {
  type(text: string): Promise<void>;
  press(key: string): Promise<void>;
  down(key: string): Promise<void>;
  up(key: string): Promise<void>;
}

export interface DrivenPage extends Context {
  keyboard: DrivenKeyboard;
  goto(url: string): Promise<unknown>;
  focus(selector: string): Promise<void>;
  title(): Promise<string>;
  /** Console messages of the page and its frames. WebDriver has no such events. */
  on?(event: 'console', listener: (message: { text(): string }) => void): unknown;
  /** A PNG. */
  screenshot(options: { clip: { x: number; y: number; width: number; height: number } }): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface DrivenBrowser {
  newPage(): Promise<DrivenPage>;
  close(): Promise<void>;
}
