import type { HostMessage, InitMessage } from '../protocol/messages.js';
import type { FakeFrameOptions, FrameReply } from './fake-frame-options.js';

/** Values for `fakeFramePage`, which can't use imports. */
export interface FakeFrameSettings {
  options: FakeFrameOptions;
  source: string;
  version: number;
  /** Tag of the messages of `driveFakeFrame`. */
  driver: string;
  /** URL to which the page posts the messages that it receives. */
  reportTo: string | null;
}

/**
 * The script of the fake form. Its source text is inserted into the page, so it can only use its
 * argument and browser APIs.
 */
export function fakeFramePage({ options, source, version, driver, reportTo }: FakeFrameSettings): void {
  const host = new URLSearchParams(location.search).get('parentOrigin') ?? '';
  const received: HostMessage[] = [];
  let init: InitMessage | undefined;

  const { body } = document;
  const element = (id: string): HTMLElement => document.getElementById(id) ?? body;
  const setStatus = (text: string): void => {
    element('status').textContent = text;
  };
  const post = (reply: FrameReply): void => parent.postMessage({ source, ...reply }, host);
  const name = document.querySelector('input');

  function begin(message: InitMessage): void {
    init = message;
    element('title').textContent = message.displayName ?? message.typeId;
    if (name) name.value = message.name ?? '';
    setStatus(message.existingId ? `Editing ${message.existingId}` : `New ${message.kind}`);
    const defaults: FrameReply[] = [{ type: 'loaded' }, { type: 'resize', height: body.scrollHeight }];
    for (const reply of options.afterInit ?? defaults) post(reply);
  }

  const { ready = true, leave = 'left' } = options;
  const ask = (asking: boolean): void => {
    element('question').hidden = !asking;
  };
  function sendLeft(): void {
    ask(false);
    post({ type: 'left' });
  }

  function handle(message: HostMessage): void {
    received.push(message);
    if (reportTo) void fetch(reportTo, { method: 'POST', body: JSON.stringify(message) });
    if (message.type === 'init') begin(message);
    if (message.type === 'session') setStatus('Session renewed');
    if (message.type === 'command' && leave !== 'unknown') clicks[message.command]?.();
    if (message.type === 'leave' && leave === 'left') sendLeft();
    if (message.type === 'leave' && leave === 'ask') ask(true);
  }

  addEventListener('message', ({ source: sender, origin, data }) => {
    if (sender !== parent || origin !== host) return;
    if (data?.source === source) handle(data);
    if (data?.source !== driver) return;
    if (data.reply) post(data.reply);
    else parent.postMessage({ source: driver, received }, host);
  });

  const clicks: Record<string, () => void> = {
    save: () => {
      const fallback = { id: init?.existingId ?? 'con_fake', name: name?.value || init?.typeId };
      post({ type: 'saved', connector: options.saved ?? fallback });
    },
    test: () => setStatus('Tested'),
    cancel: () => post({ type: 'cancel' }),
    fail: () => post({ type: 'error', ...(options.failure ?? { code: 'save_failed', message: 'Saving failed' }) }),
    expire: () => post({ type: 'session_request' }),
    discard: sendLeft,
    keep: () => ask(false),
  };
  for (const [id, click] of Object.entries(clicks)) document.getElementById(id)?.addEventListener('click', click);

  const answersLeave = leave !== 'unknown';
  const sendReady = (): void =>
    post({ type: 'ready', version, reportsLoad: true, ...(answersLeave && { answersLeave }) });
  if (ready === true) sendReady();
  else if (ready !== false) setTimeout(sendReady, ready);
}
