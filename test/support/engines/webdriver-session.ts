/** A reference to an element or frame, as WebDriver sends it: one property with a fixed name. */
export type ElementReference = Record<string, string>;

// https://www.w3.org/TR/webdriver2/#dfn-web-element-identifier
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

/** Returns whether a result is a reference to an element. */
export const isElement = (value: unknown): value is ElementReference =>
  typeof value === 'object' && value !== null && ELEMENT in value;

const elementId = (reference: ElementReference): string => reference[ELEMENT] ?? '';

/** One session of the W3C WebDriver protocol. */
export interface WebDriverSession {
  /**
   * Runs commands in a frame, one caller at a time, because the current frame is state of the
   * session. The driver moves focus into a frame when it enters it, but not back out to the top.
   * @param frame the iframes that lead to the frame, from the top; empty for the top, `undefined`
   *   for any frame
   */
  within<T>(frame: readonly ElementReference[] | undefined, run: (send: Send) => Promise<T>): Promise<T>;
  /** Ends the session and closes its windows. */
  end(): Promise<void>;
}

/** Sends one command. Throws if the driver responds with an error. */
export type Send = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: object) => Promise<unknown>;

/** Starts a session with the driver at this address, `http://127.0.0.1:4444`. */
export async function startSession(driver: string): Promise<WebDriverSession> {
  const capabilities = { alwaysMatch: { acceptInsecureCerts: true } };
  const created = (await send(driver, 'POST', '/session', { capabilities })) as { sessionId: string };
  const base = `${driver}/session/${created.sessionId}`;
  const command: Send = (method, path, body) => send(base, method, path, body);
  await command('POST', '/timeouts', { script: 120_000, pageLoad: 60_000 });

  let current = '';
  let turn: Promise<unknown> = Promise.resolve();
  const enter = async (frame: readonly ElementReference[]): Promise<void> => {
    const key = frame.map(elementId).join(' ');
    if (key === current) return;
    // If a command fails on the way down, the session stays in an intermediate frame.
    current = 'unknown';
    await command('POST', '/frame', { id: null });
    for (const id of frame) await command('POST', '/frame', { id });
    current = key;
  };
  return {
    within(frame, run) {
      const result = turn.then(async () => {
        if (frame) await enter(frame);
        return run(command);
      });
      turn = result.catch(() => (current = 'unknown'));
      return result;
    },
    end: async () => void (await command('DELETE', '')),
  };
}

async function send(base: string, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${base}${path}`, {
    method,
    ...(method === 'POST' && { body: JSON.stringify(body ?? {}) }),
  });
  const { value } = (await response.json()) as { value: unknown };
  if (response.ok) return value;
  const { error, message } = Object(value) as { error?: string; message?: string };
  throw new Error(`WebDriver ${method} ${path}: ${error ?? response.status}: ${message ?? ''}`);
}
