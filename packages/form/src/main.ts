/**
 * Entry point of the form's script: connects the boot script's state, the form, its view and the
 * host page.
 */
import { parseHostMessage, type InitMessage } from '@connector-frame/core/protocol';
import { loadStylesheets } from './appearance/load-stylesheets.js';
import type { Boot, Start } from './boot.js';
import type * as Extras from './extras.js';
import { createMessages, type Messages } from './messages/index.js';
import { createApi, type Api } from './model/api.js';
import { createChannel, onHostMessage, type Channel } from './model/channel.js';
import { createForm } from './model/create-form.js';
import type { Form } from './model/form.js';
import { createSession } from './model/session.js';
import { secretControls } from './view/protected/secret-control.js';
import { mountView, runCommand } from './view/root.js';
import { colorProtected, colors } from './view/protected/protected-sheets.js';
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

/** Loads the script with what few types need. The build writes its name into the page. */
function loadExtras(): Promise<typeof Extras> {
  const name = document.querySelector<HTMLMetaElement>('[name=extras]')?.content;
  return import(/* @vite-ignore */ name ?? '');
}

function openForm(
  init: InitMessage,
  { base, calls }: Started,
  parentOrigin: string,
  channel: Channel,
): { form: Form; api: Api } {
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
    loadAccount: async () => (await loadExtras()).createAccount,
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
  return { form, api };
}

/** Returns `ViewOptions.setup` of a form. */
function createSetup(form: Form, api: Api): (path: string) => HTMLElement | undefined {
  let host: HTMLElement | undefined;
  return (path) => {
    const setup = 'subject' in form.state && form.state.subject.setup;
    if (!setup || setup.field !== path) return undefined;
    if (!host) {
      const element = (host = document.createElement('div'));
      element.className = 'cf-setup';
      void loadExtras().then(({ mountSetup }) => mountSetup(element, { form, setup, messages, colors, api }));
    }
    return host;
  };
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
  const { form, api } = openForm(init, started, parentOrigin, channel);
  boot.repliesToLeave = true;
  Object.assign(document.documentElement, { lang: messages.language, dir: messages.direction });
  applied.onChange((tokens) => {
    colorProtected(tokens);
    for (const control of secretControls()) control.draw();
  });
  const host = document.getElementById('form') ?? document.body;
  const onCovered = (): void => reportToDeveloper('frame_covered', channel);
  mountView(form, host, {
    messages,
    tokens: applied.tokens,
    setup: createSetup(form, api),
    onHeight: channel.resize,
    onCovered,
  });

  if (!init.stylesheets?.length) return;
  // The form keeps its built-in styles until these have loaded, and if they fail to load.
  if (await loadStylesheets(init.stylesheets, parentOrigin)) removeBuiltInStyles();
  else reportToDeveloper('stylesheet_failed', channel);
}

// Outside a frame there is nothing to do; the boot script has shown a message.
if (globalThis.connectorFrameBoot) void run(globalThis.connectorFrameBoot);
