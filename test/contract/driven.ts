// What Playwright and Puppeteer have in the same words. What runs in the page takes one value.

interface Context {
  evaluate<R, A = undefined>(run: (given: A) => R | Promise<R>, given?: A): Promise<R>;
  evaluateHandle<A = undefined>(run: (given: A) => unknown, given?: A): Promise<{ asElement(): DrivenElement | null }>;
}

export interface DrivenElement {
  evaluate<R>(run: (element: HTMLElement) => R): Promise<R>;
  evaluateHandle<T>(run: (element: HTMLElement) => T): Promise<{ evaluate<R>(run: (value: T) => R): Promise<R> }>;
  click(): Promise<void>;
  contentFrame(): Promise<DrivenFrame | null>;
}

export interface DrivenFrame extends Context {
  url(): string;
}

export interface DrivenPage extends Context {
  keyboard: {
    type(text: string): Promise<void>;
    press(key: string): Promise<void>;
    down(key: string): Promise<void>;
    up(key: string): Promise<void>;
  };
  goto(url: string): Promise<unknown>;
  focus(selector: string): Promise<void>;
  title(): Promise<string>;
  /** A PNG. */
  screenshot(options: { clip: { x: number; y: number; width: number; height: number } }): Promise<Uint8Array>;
  close(): Promise<void>;
}

export interface DrivenBrowser {
  newPage(): Promise<DrivenPage>;
  close(): Promise<void>;
}
