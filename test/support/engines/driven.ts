// The browser driver interface of the tests. Playwright (Chromium) and Puppeteer (Firefox) already
// have these methods; `webdriver-page.ts` implements them for WebKit. A function that runs in the
// page takes one JSON value.

export type EngineName = 'Chromium' | 'Firefox' | 'WebKit';

interface Context {
  evaluate<R, A = undefined>(run: (given: A) => R | Promise<R>, given?: A): Promise<R>;
  evaluateHandle<A = undefined>(run: (given: A) => unknown, given?: A): Promise<{ asElement(): DrivenElement | null }>;
}

export interface DrivenElement {
  evaluate<R>(run: (element: HTMLElement) => R): Promise<R>;
  evaluateHandle<T>(run: (element: HTMLElement) => T): Promise<{ evaluate<R>(run: (value: T) => R): Promise<R> }>;
  /**
   * Clicks the middle of the element with a real pointer. The browser may drop the click: see
   * `clickOn`.
   */
  click(): Promise<void>;
  /** Scrolls the element into view, in engines where focus does not. */
  reveal?(): Promise<void>;
  /** Returns the frame of an iframe, including a cross-site one. */
  contentFrame(): Promise<DrivenFrame | null>;
}

export interface DrivenFrame extends Context {
  url(): string | Promise<string>;
}

/** Presses real keys. They go to the focused element, in any frame. */
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
  /**
   * Console messages of the page and its frames. Absent with WebDriver, which has no such events.
   */
  on?(event: 'console', listener: (message: { text(): string }) => void): unknown;
  /** Resolves with a PNG. */
  screenshot(options: { clip: { x: number; y: number; width: number; height: number } }): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface DrivenBrowser {
  newPage(): Promise<DrivenPage>;
  close(): Promise<void>;
}
