import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { builtinEnvironments } from 'vitest/runtime';
import {
  createConnectorFrame,
  PROTOCOL_SOURCE,
  type ErrorHandler,
  type SavedConnector,
} from '@connector-frame/core/connect';
import { codeOf } from '../support/guides.js';

// Tests of a host page often run in a simulated document. Its frame loads nothing, so a test sends
// messages in the name of the form.

const formOrigin = 'https://connect.example.com';
const source = 'monad-embed';

const frameOptions = () => ({
  container: '#connect',
  frameOrigin: `${formOrigin}/embed`,
  apiBase: formOrigin,
  kind: 'input' as const,
  typeId: 'okta-systemlog',
  sessionToken: 'token-1',
  organizationId: 'org-1',
  onReady: vi.fn<() => void>(),
  onSave: vi.fn<(connector: SavedConnector) => void>(),
  onCancel: vi.fn<() => void>(),
  onError: vi.fn<ErrorHandler>(),
});

/** Responds to happy-dom's request of the frame's page. */
const emptyPage = {
  beforeAsyncRequest: async ({ window }: { window: { Response: typeof Response } }) => new window.Response(''),
};

const libraries = [
  { library: 'jsdom', settings: {} },
  // By default, frames of happy-dom have no window, so nothing can be posted to them.
  { library: 'happy-dom', settings: {} },
  { library: 'happy-dom', settings: { enableIframePageLoading: true, fetch: { interceptor: emptyPage } } },
] as const;

describe.each(libraries)('in $library with the settings $settings', ({ library, settings }) => {
  let leave: () => unknown;
  let options: ReturnType<typeof frameOptions>;

  beforeAll(async () => {
    // The environment that Vitest gives to tests of a page.
    const url = 'https://product.example/settings';
    const { teardown } = await builtinEnvironments[library].setup(globalThis, {
      jsdom: { url },
      happyDOM: { url, settings },
    });
    leave = () => teardown(globalThis);
  });
  afterAll(() => leave());

  beforeEach(() => {
    // happy-dom logs that it doesn't load frames.
    vi.spyOn(console, 'error').mockImplementation(() => undefined);
    document.body.innerHTML = '<main><div id="connect"></div></main>';
    options = frameOptions();
  });
  afterEach(() => {
    document.body.replaceChildren();
    vi.restoreAllMocks();
  });

  const frame = (): HTMLIFrameElement => {
    const iframe = document.querySelector('iframe');
    if (!iframe) throw new Error('There is no frame.');
    return iframe;
  };
  const send = (data: object, origin = formOrigin): void => {
    const event = new MessageEvent('message', { data: { source, ...data }, origin });
    // Constructors of simulated documents accept only their own windows.
    window.dispatchEvent(Object.defineProperty(event, 'source', { value: frame().contentWindow }));
  };

  test('mounts the frame with its URL, sandbox and title', () => {
    const { destroy } = createConnectorFrame({ ...options, displayName: 'Okta' });
    const iframe = frame();
    expect(iframe.parentElement?.id).toBe('connect');
    const parentOrigin = window.location.origin;
    expect(iframe.src).toBe(`${formOrigin}/embed/?parentOrigin=${parentOrigin}`);
    expect(iframe.title).toBe('Okta');
    expect(String(iframe.sandbox)).toContain('allow-scripts');
    expect(iframe.style.display).toBe('block');
    destroy();
  });

  test('sends init to the form, and calls the callbacks for its messages', async () => {
    const { destroy } = createConnectorFrame(options);
    const posted: unknown[] = [];
    const target = frame().contentWindow;
    if (target) target.postMessage = (...message: unknown[]) => void posted.push(message);
    send({ type: 'ready', version: 1 });
    const init = [expect.objectContaining({ type: 'init', sessionToken: 'token-1' }), formOrigin];
    expect(posted).toEqual(target ? [init] : []);
    expect(options.onReady).toHaveBeenCalledOnce();
    send({ type: 'resize', height: 480 });
    expect(frame().style.height).toBe('480px');
    send({ type: 'saved', connector: { id: 'con_1', name: 'Okta' } });
    send({ type: 'cancel' });
    send({ type: 'error', code: 'test_failed', message: 'Okta rejected the token' });
    await vi.waitFor(() => expect(options.onError).toHaveBeenCalledOnce());
    expect(options.onSave.mock.calls).toEqual([[{ id: 'con_1', name: 'Okta' }]]);
    expect(options.onCancel).toHaveBeenCalledOnce();
    expect(options.onError.mock.calls[0]).toMatchObject(['Okta rejected the token', { code: 'test_failed' }]);
    destroy();
  });

  test('the lines of the testing guide report a save', async () => {
    const lines = await codeOf('testing', 'connect-button.test.ts');
    const { destroy } = createConnectorFrame(options);
    // oxlint-disable-next-line typescript/no-implied-eval -- the code of the guide
    new Function('PROTOCOL_SOURCE', lines)(PROTOCOL_SOURCE);
    expect(options.onSave.mock.calls).toEqual([[{ id: 'con_1', name: 'Okta' }]]);
    destroy();
  });

  test('accepts what forms of other services leave out', async () => {
    const { destroy } = createConnectorFrame(options);
    const long = `Okta rejected the token: ${'x'.repeat(20_000)}`;
    send({ type: 'saved', connector: { id: 'con_1', name: null } });
    send({ type: 'error', message: long });
    send({ type: 'error', message: 'x', code: null });
    await vi.waitFor(() => expect(options.onError).toHaveBeenCalledTimes(2));
    expect(options.onSave.mock.calls).toEqual([[{ id: 'con_1', name: undefined }]]);
    expect(options.onError.mock.calls[0]).toMatchObject([long, { code: 'frame_error', message: long }]);
    expect(options.onError.mock.calls[1]).toMatchObject(['x', { code: 'frame_error' }]);
    destroy();
  });

  test('ignores messages of other origins', () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const { destroy } = createConnectorFrame(options);
    send({ type: 'cancel' }, 'https://evil.example');
    expect(options.onCancel).not.toHaveBeenCalled();
    expect(warn).toHaveBeenCalledOnce();
    destroy();
  });

  test('requests a session if there is no token', async () => {
    const fetchSession = vi.fn().mockResolvedValue({ sessionToken: 'token-2', organizationId: 'org-2' });
    const { destroy } = createConnectorFrame({ ...options, sessionToken: undefined, fetchSession });
    expect(fetchSession).toHaveBeenCalledOnce();
    await fetchSession.mock.results[0]?.value;
    destroy();
  });

  test('destroy removes the frame and its listeners, and so does removing the container', async () => {
    const { destroy } = createConnectorFrame(options);
    const iframe = frame();
    destroy();
    destroy();
    expect(document.querySelector('iframe')).toBeNull();
    createConnectorFrame(options);
    const second = frame();
    expect(second).not.toBe(iframe);
    document.querySelector('main')?.remove();
    await vi.waitFor(() => expect(second.isConnected || second.parentNode).toBeFalsy());
  });

  test('rejects a container that does not exist', () => {
    expect(() => createConnectorFrame({ ...options, container: '#nowhere' })).toThrow(/^container: "#nowhere"/);
  });
});
