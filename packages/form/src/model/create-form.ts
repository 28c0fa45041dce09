import type { InitMessage } from '@connector-frame/core/protocol';
import type { Messages } from '../messages/index.js';
import type { Api } from './api.js';
import { ApiError, SessionExpired } from './api-error.js';
import type { Channel } from './channel.js';
import { changesOf, initialDraft } from './connector-write.js';
import { createEditor, type Editor, type Fields } from './editor.js';
import { DestinationNotSeen, failureFor, failureOf, type Action } from './failure-of.js';
import type { Form } from './form.js';
import { createIntents } from './intents.js';
import { transition, type FormEvent } from './machine.js';
import type { FormState } from './state.js';
import { subjectOf } from './subject-of.js';
import { createSubscriptions } from './subscriptions.js';
import type { Connector, ConnectorType } from './wire.js';

export interface FormOptions {
  init: InitMessage;
  api: Api;
  channel: Channel;
  messages: Messages;
  /** Requests a new session from the host; resolves with false if it has none. */
  renewSession: () => Promise<boolean>;
  /** Returns a number from 0 to 1. */
  random: () => number;
  /** Logs a warning for the developer of the host page. */
  warn: (message: string) => void;
}

/** A form, with the members that only the frame's entry point uses. */
export interface FormController extends Form {
  /** Whether there are unsaved edits. */
  readonly dirty: boolean;
  /**
   * Handles the host's `leave` message. Replies `left` immediately if there are no unsaved edits,
   * otherwise once they are saved or discarded.
   */
  askToLeave(): void;
  /** Handles a session from the host, whether the form requested it or not. */
  sessionRenewed(): void;
}

/** Data loaded from the service, and the editor for it. */
interface Loaded {
  type: ConnectorType;
  /** Undefined for a new connector. */
  saved: Connector | undefined;
  etag: string | null;
  editor: Editor;
}

/** Error types that require stored secrets to be entered again. */
const SECRETS_REQUIRED_AGAIN: ReadonlySet<string> = new Set([
  'secret_reentry_required',
  'secret_destination_mismatch',
  'secret_unreadable',
]);

const nothing = (): undefined => undefined;

/** Field members before the form has loaded: there is nothing to edit. */
const idle: Fields = {
  value: nothing,
  setValue: nothing,
  rows: () => 0,
  addRow: nothing,
  removeRow: nothing,
  secret: () => ({ state: 'empty' }),
  replaceSecret: nothing,
  keepSecret: nothing,
  clearSecret: nothing,
  secretEntries: () => [],
  sentTo: () => '',
  possibleErrors: () => [],
  shown: () => false,
  error: nothing,
  leave: nothing,
};

/** Loads a form and manages its state until it is saved. A failure never discards user input. */
export function createForm(options: FormOptions): FormController {
  const { init, api, channel, messages, warn } = options;
  const subscriptions = createSubscriptions();
  const intents = createIntents();
  const random = options.random();
  let state: FormState = { phase: 'loading' };
  let loaded: Loaded | undefined;
  const busy: { save?: Promise<void> | undefined; test?: Promise<void> | undefined } = {};
  /** Incremented on each edit: a test result applies only to the revision that was tested. */
  let revision = 0;

  const move = (event: FormEvent): void => {
    const next = transition(state, event);
    if (next === state) return;
    state = next;
    subscriptions.notify('*');
  };

  const fail = (error: unknown, action: Action): ReturnType<typeof failureOf> => {
    const failure = failureOf(error, action, messages);
    const { code, message } = failure;
    // The developer of the host page needs the ID; the user does not.
    channel.error(code === 'type_not_found' ? { ...failure, message: `${message}: ${init.typeId}` } : failure);
    return failure;
  };

  async function load(): Promise<void> {
    move({ type: 'loading' });
    try {
      const [type, found, organization] = await Promise.all([
        api.loadType(),
        api.loadConnector(),
        api.loadOrganization(),
      ]);
      const saved = found?.connector;
      const subject = subjectOf(init, type, saved, messages, warn);
      const editor = createEditor({
        type,
        subject,
        saved,
        organization: organization.name,
        details: initialDraft(init, type, saved, random),
        messages,
        subscriptions,
        onEdit() {
          revision += 1;
          move({ type: 'edited' });
        },
      });
      Object.assign(form, editor.fields);
      loaded = { type, saved, etag: found?.etag ?? null, editor };
      move({ type: 'loaded', subject });
      channel.loaded(subject.title);
    } catch (error) {
      const hopeless = error instanceof ApiError && (error.status === 403 || error.status === 404);
      move({ type: 'load_failed', failure: fail(error, 'load'), canRetry: !hopeless });
    }
  }

  /**
   * Saves the form and returns the connector. If nothing changed, returns the saved connector
   * without sending a request.
   */
  async function send({ type, saved, etag, editor }: Loaded): Promise<Connector> {
    const content = editor.content();
    if (!saved) {
      const description = content.description || (init.description === undefined ? type.description : '');
      const write = { ...content, description, type: type.type_id };
      return intents.run(write, (key) => api.create(write, key));
    }
    const changes = changesOf(content, saved, type);
    return changes ? intents.run([changes, etag], (key) => api.update(changes, etag, key)) : saved;
  }

  /**
   * Assigns the issues of a failed call to their fields. Returns true if every issue matched a
   * field, so that no general message is needed.
   */
  const applyServerIssues = (error: unknown, { editor }: Loaded): boolean => {
    if (!(error instanceof ApiError) || error.issues.length === 0) return false;
    const message = error.type === 'secret_unreadable' ? { message: messages.secretUnreadable } : {};
    const issues = error.issues.map((issue) => ({ ...issue, ...message }));
    return editor.applyServerIssues(issues, SECRETS_REQUIRED_AGAIN.has(error.type));
  };

  /**
   * Validates the form, runs the action and reports its outcome. A repeated call joins the one in
   * progress.
   */
  const attempt = (
    action: 'save' | 'test',
    confirm: (() => Promise<boolean>) | undefined,
    run: (form: Loaded) => Promise<FormEvent>,
  ): Promise<void> =>
    (busy[action] ??= (async () => {
      if (!loaded || state.phase !== 'editing') return;
      if (!loaded.editor.check()) return move({ type: 'rejected' });
      move({ type: action === 'save' ? 'saving' : 'testing' });
      try {
        if (confirm && !(await confirm())) throw new DestinationNotSeen();
        move(await run(loaded));
      } catch (error) {
        const failure = fail(error, action);
        if (error instanceof SessionExpired) return move({ type: 'expired', failure });
        const allDisplayed = applyServerIssues(error, loaded);
        if (action === 'test') move({ type: 'tested', test: { state: 'failed', failure } });
        else move({ type: 'save_failed', ...(allDisplayed ? {} : { failure }) });
      }
    })().finally(() => {
      busy[action] = undefined;
    }));

  async function reload(form: Loaded): Promise<void> {
    try {
      const found = await api.loadConnector();
      if (!found) return;
      form.saved = found.connector;
      form.etag = found.etag;
      form.editor.rebase(found.connector, initialDraft(init, form.type, found.connector, random));
      move({ type: 'rebased' });
    } catch (error) {
      move({ type: 'save_failed', failure: fail(error, 'save') });
    }
  }

  const form: FormController = {
    ...idle,
    get state() {
      return state;
    },
    get summary() {
      return loaded?.editor.summary() ?? [];
    },
    get rejected() {
      return loaded?.editor.rejected() ?? false;
    },
    get dirty() {
      return state.phase === 'editing' && loaded?.editor.isDirty() === true;
    },

    save: (confirm) =>
      attempt('save', confirm, async (form) => {
        const { id, name } = await send(form);
        channel.saved({ id, name });
        if (state.phase === 'editing' && state.leaving) channel.left();
        return { type: 'saved' };
      }),

    test: (confirm) =>
      attempt('test', confirm, async (form) => {
        const tested = revision;
        const result = await api.test(form.editor.content().config);
        return { type: 'tested', test: tested === revision ? { state: 'passed', ...result } : { state: 'idle' } };
      }),

    cancel: () => channel.cancel(),

    askToLeave() {
      if (form.dirty) move({ type: 'leaving', leaving: true });
      else channel.left();
    },
    discard: () => channel.left(),
    keepEditing: () => move({ type: 'leaving', leaving: false }),

    async retry() {
      if (state.phase === 'load_failed' && state.canRetry) return load();
      if (state.phase !== 'editing' || !loaded) return;
      if (state.failure?.action === 'reload') return reload(loaded);
      if (!state.expired) return;
      if (await options.renewSession()) move({ type: 'renewed' });
      else fail(new SessionExpired(), 'save');
    },

    reject(reason) {
      const failure = failureFor(reason, messages);
      channel.error(failure);
      // A command rejected while the user is typing must not change the form.
      if (reason === 'destination_not_seen') move({ type: 'save_failed', failure });
    },

    sessionRenewed: () => move({ type: 'renewed' }),

    subscribe: subscriptions.subscribe,
  };
  void load();
  return form;
}
