import type { HostMessage, InitMessage } from '../protocol/messages.js';
import type { FakeFrameOptions, FrameReply } from './fake-frame-options.js';

/** What the page cannot import, as it is sent as text. */
export interface FakeFrameSettings {
  options: FakeFrameOptions;
  source: string;
  version: number;
  /** Tag of a driver's commands. */
  driver: string;
  /** Where the page tells its server what it received. */
  reportTo: string | null;
}

/**
 * The fake form. It runs in the frame and not where it was written: its text is put into a page, so it must not use
 * anything but its argument and the browser.
 */
export function fakeFramePage({ options, source, version, driver, reportTo }: FakeFrameSettings): void {
  const host = new URLSearchParams(location.search).get('parentOrigin') ?? '';
  const received: HostMessage[] = [];
  let init: InitMessage | undefined;

  const { body } = document;
  const element = (id: string): HTMLElement => document.getElementById(id) ?? body;
  const say = (text: string): void => {
    element('status').textContent = text;
  };
  const post = (reply: FrameReply): void => parent.postMessage({ source, ...reply }, host);
  const name = document.querySelector('input');

  function begin(message: InitMessage): void {
    init = message;
    element('title').textContent = message.displayName ?? message.typeId;
    if (name) name.value = message.name ?? '';
    say(message.existingId ? `Editing ${message.existingId}` : `New ${message.kind}`);
    const usual: FrameReply[] = [{ type: 'loaded' }, { type: 'resize', height: body.scrollHeight }];
    for (const reply of options.afterInit ?? usual) post(reply);
  }

  const { ready = true, leave = 'left' } = options;
  const ask = (asking: boolean): void => {
    element('question').hidden = !asking;
  };
  function letGo(): void {
    ask(false);
    post({ type: 'left' });
  }

  function take(message: HostMessage): void {
    received.push(message);
    if (reportTo) void fetch(reportTo, { method: 'POST', body: JSON.stringify(message) });
    if (message.type === 'init') begin(message);
    if (message.type === 'session') say('Session renewed');
    if (message.type === 'command' && leave !== 'unknown') clicks[message.command]?.();
    if (message.type === 'leave' && leave === 'left') letGo();
    if (message.type === 'leave' && leave === 'ask') ask(true);
  }

  addEventListener('message', ({ source: sender, origin, data }) => {
    if (sender !== parent || origin !== host) return;
    if (data?.source === source) take(data);
    if (data?.source !== driver) return;
    if (data.reply) post(data.reply);
    else parent.postMessage({ source: driver, received }, host);
  });

  const clicks: Record<string, () => void> = {
    save: () => {
      const fallback = { id: init?.existingId ?? 'con_fake', name: name?.value || init?.typeId };
      post({ type: 'saved', connector: options.saved ?? fallback });
    },
    test: () => say('Tested'),
    cancel: () => post({ type: 'cancel' }),
    fail: () => post({ type: 'error', ...(options.failure ?? { code: 'save_failed', message: 'Saving failed' }) }),
    expire: () => post({ type: 'session_request' }),
    discard: letGo,
    keep: () => ask(false),
  };
  for (const [id, click] of Object.entries(clicks)) document.getElementById(id)?.addEventListener('click', click);

  const answersLeave = leave !== 'unknown';
  const greet = (): void => post({ type: 'ready', version, reportsLoad: true, ...(answersLeave && { answersLeave }) });
  if (ready === true) greet();
  else if (ready !== false) setTimeout(greet, ready);
}
