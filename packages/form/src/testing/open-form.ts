import type { FrameMessage, InitMessage } from '@connector-frame/core/protocol';
import en from '../messages/en.json' with { type: 'json' };
import { createMessages } from '../messages/index.js';
import { createAccount, type AccountWindow } from '../model/account.js';
import { createApi } from '../model/api.js';
import { createChannel } from '../model/channel.js';
import { createForm, type FormController } from '../model/create-form.js';
import { createSession, type Session } from '../model/session.js';
import type { Connector, ConnectorType } from '../model/wire.js';
import { exampleConnector, exampleType } from './example-type.js';
import { fakeService, json, type Call, type FakeService } from './fake-service.js';

export interface OpenedForm {
  form: FormController;
  service: FakeService;
  /** Messages that the form sent to the host page. */
  posted: FrameMessage[];
  session: Session;
  warnings: string[];
  /** Resolves when the form has left `loading`. */
  loaded: Promise<void>;
  /** From now on, the host replies to every session request with this token. */
  hostRepliesWith(token: string): void;
}

const base: InitMessage = {
  source: 'monad-embed',
  type: 'init',
  version: 1,
  sessionToken: 'first-token',
  apiBase: 'http://service.test',
  organizationId: 'org 1',
  typeId: exampleType.type_id,
  kind: 'input',
};

export interface OpenOptions {
  online?: () => boolean;
  /** Opens the window for an account. Default: the browser blocks it. */
  openWindow?: () => AccountWindow | undefined;
  /** The type that the service returns; by default the example type. */
  type?: ConnectorType;
  /** The connector that the service returns; by default the one of the example type. */
  connector?: Connector;
}

const respond = (
  { method, path, body }: Call,
  { type = exampleType, connector = exampleConnector }: OpenOptions,
): Response => {
  if (path.endsWith('s/okta-systemlog')) return json(type);
  if (path.endsWith('/v3/session')) return json({ organization: { id: 'org 1', name: 'Acme' } });
  if (path.endsWith('/test-connection'))
    return json({ message: 'success', summary: 'Read 1 event.', duration_ms: 412 });
  if (method === 'GET') return json(connector, 200, { etag: '"3"' });
  const written = typeof body === 'object' && body !== null ? body : {};
  return json({ ...connector, ...written, id: connector.id, version: 4 });
};

/** Waits for a hundredth of the time, so that a shorter wait still ends before a longer one. */
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms / 100));

/** Opens a form as the frame does, with an in-memory service. Tokens have no expiry time. */
export function openForm(init: Partial<InitMessage> = {}, options: OpenOptions = {}): OpenedForm {
  const posted: FrameMessage[] = [];
  const warnings: string[] = [];
  const service = fakeService((call) => respond(call, options));
  const messages = createMessages(en);
  const channel = createChannel({ post: (message) => posted.push(message) });
  let token: string | undefined;
  const session = createSession(base.sessionToken, {
    now: () => 0,
    sleep,
    request() {
      channel.requestSession();
      const reply = token;
      if (reply !== undefined) session.receive(reply);
    },
  });
  const fullInit = { ...base, ...init };
  const api = createApi({
    ...fullInit,
    base: fullInit.apiBase,
    parentOrigin: 'https://host.test',
    session,
    fetch: service.fetch,
    now: () => 0,
    random: () => 0,
    sleep,
    online: options.online ?? (() => true),
  });
  const form = createForm({
    init: fullInit,
    api,
    channel,
    messages,
    renewSession: session.renew,
    random: () => 0.5,
    sleep,
    loadAccount: () =>
      Promise.resolve((tools) => createAccount({ openWindow: options.openWindow ?? (() => undefined), ...tools })),
    warn: (message) => warnings.push(message),
  });
  const loaded = new Promise<void>((resolve) => {
    const stop = form.subscribe('*', () => {
      if (form.state.phase === 'loading') return;
      stop();
      resolve();
    });
  });
  return { form, service, posted, session, warnings, loaded, hostRepliesWith: (next) => (token = next) };
}

/**
 * Opens a form and waits until it is loaded: for a new connector or, with `existingId`, a saved
 * one.
 */
export async function openedForm(init: Partial<InitMessage> = {}, options: OpenOptions = {}): Promise<OpenedForm> {
  const opened = openForm(init, options);
  await opened.loaded;
  opened.service.calls.length = 0;
  return opened;
}

/** Fills in the fields that the example type requires for a save. */
export function fillIn({ form }: OpenedForm): void {
  form.setValue('/settings/org_url', 'https://acme.okta.com');
  form.addRow('/settings/regions');
  form.setValue('/settings/regions/0', 'eu');
  form.setValue('/secrets/token', 'tok-123');
  form.setValue('/secrets/signing_key', 'key-123');
}
