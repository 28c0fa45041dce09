/**
 * Entry point of the form's script: connects the boot script's state, the form, its view and the
 * host page.
 */
import { parseHostMessage, type InitMessage } from '@connector-frame/core/protocol';
import { loadStylesheets } from './appearance/load-stylesheets.js';
import type { Boot, Start } from './boot.js';
import { createMessages, type Messages } from './messages/index.js';
import type { AccountWindow } from './model/account.js';
import { createApi } from './model/api.js';
import { createChannel, onHostMessage, type Channel } from './model/channel.js';
import { createForm } from './model/create-form.js';
import type { Form } from './model/form.js';
import { createSession } from './model/session.js';
import { secretControls } from './view/protected/secret-control.js';
import { mountView, runCommand } from './view/root.js';
import { colorProtected } from './view/protected/protected-sheets.js';
import { removeBuiltInStyles } from './view/built-in-styles.js';

// The build inlines the messages into the page.
const messages = createMessages(JSON.parse(document.getElementById('messages')?.textContent ?? ''));

type Started = Exclude<Start, { rejected: string }>;

const now = (): number => performance.now();

const warn = (message: string): void => console.warn(`[connector-frame] ${message}`);

/** Reports an error that only the developer of the host page can correct, in words for developers. */
function reportToDeveloper(code: keyof Messages['developer'], channel: Channel): void {
  const message = messages.developer[code];
  channel.error({ code, message });
  warn(message);
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Opens a window beside the page. The form sends it to the service, and the service to the vendor. */
function openWindow(): AccountWindow | undefined {
  const opened = open('', '_blank', 'popup,width=560,height=720');
  if (!opened) return undefined;
  const done = new Promise<void>((resolve) => {
    addEventListener('message', function onMessage({ source, origin, data }) {
      if (source !== opened || origin !== location.origin || data?.source !== 'connector-frame-consent') return;
      removeEventListener('message', onMessage);
      resolve();
    });
  });
  return {
    go: (url) => opened.location.replace(url),
    close: () => opened.close(),
    done,
    get closed() {
      return opened.closed;
    },
  };
}

function openForm(init: InitMessage, { base, calls }: Started, parentOrigin: string, channel: Channel): Form {
  const session = createSession(init.sessionToken, { now, sleep, request: channel.requestSession });
  const api = createApi({
    ...init,
    base,
    parentOrigin,
    session,
    started: calls,
    fetch: (input, request) => fetch(input, request),
    now,
    random: Math.random,
    sleep,
    online: () => navigator.onLine,
  });
  const form = createForm({
    init,
    api,
    channel,
    messages,
    warn,
    random: Math.random,
    sleep,
    openWindow,
    renewSession: session.renew,
  });
  addEventListener('online', form.online);
  onHostMessage(
    (listener) => addEventListener('message', listener),
    { source: parent, origin: parentOrigin },
    (message) => {
      if (message.type === 'session') {
        session.receive(message.sessionToken);
        form.sessionRenewed();
      } else if (message.type === 'command') void runCommand(message.command, form);
      else if (message.type === 'leave') form.askToLeave();
    },
  );
  return form;
}

async function run(boot: Boot): Promise<void> {
  const { parentOrigin, start, theme } = boot;
  const started = await start;
  const channel = createChannel({ post: (message) => parent.postMessage(message, parentOrigin) });
  const message = 'init' in started ? parseHostMessage(started.init) : undefined;
  const init = message?.type === 'init' ? message : undefined;

  const applied = await theme;
  if (!init || !applied || !('init' in started)) {
    reportToDeveloper('rejected' in started ? started.rejected : 'protocol_mismatch', channel);
    document.body.textContent = messages.failures.not_shown.join('. ');
    return;
  }
  const form = openForm(init, started, parentOrigin, channel);
  boot.repliesToLeave = true;
  Object.assign(document.documentElement, { lang: messages.language, dir: messages.direction });
  applied.onChange((tokens) => {
    colorProtected(tokens);
    for (const control of secretControls()) control.draw();
  });
  const host = document.getElementById('form') ?? document.body;
  const onCovered = (): void => reportToDeveloper('frame_covered', channel);
  mountView(form, host, { messages, tokens: applied.tokens, onHeight: channel.resize, onCovered });

  if (!init.stylesheets?.length) return;
  // The form keeps its built-in styles until these have loaded, and if they fail to load.
  if (await loadStylesheets(init.stylesheets, parentOrigin)) removeBuiltInStyles();
  else reportToDeveloper('stylesheet_failed', channel);
}

// Outside a frame there is nothing to do; the boot script has shown a message.
if (globalThis.connectorFrameBoot) void run(globalThis.connectorFrameBoot);
