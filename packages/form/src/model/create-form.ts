import type { Issue } from '@connector-frame/catalog/types';
import type { InitMessage } from '@connector-frame/core/protocol';
import type { Messages } from '../messages/index.js';
import type { CreateAccount } from './account.js';
import type { Api } from './api.js';
import { ApiError, SessionExpired } from './api-error.js';
import type { Channel } from './channel.js';
import { changesOf, initialDraft } from './connector-write.js';
import { createEditor, type Editor, type Fields } from './editor.js';
import { DestinationNotSeen, failureFor, failureOf, isTestResult, type Action } from './failure-of.js';
import type { Form } from './form.js';
import { createIntents } from './intents.js';
import { transition, type FormEvent } from './machine.js';
import type { Failure, FormState, FormSubject } from './state.js';
import { addressOf, subjectOf } from './subject-of.js';
import { createSubscriptions } from './subscriptions.js';
import type { Connector, ConnectorType } from './wire.js';

export interface FormOptions {
  init: InitMessage;
  api: Api;
  channel: Channel;
  messages: Messages;
  /** Requests a new session from the host; resolves with false if it has none. */
  renewSession: () => Promise<boolean>;
  /** Loads the part that connects accounts, which few types need. */
  loadAccount: () => Promise<CreateAccount>;
  sleep: (ms: number) => Promise<void>;
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
  /** Handles the browser being online again: loads, or removes the message that it is offline. */
  online: () => void;
}

/** Data loaded from the service, and the editor for it. */
interface Loaded {
  type: ConnectorType;
  /** Undefined for a new connector. */
  saved?: Connector | undefined;
  etag: string | null;
  /** Name of the session's organization. */
  organization: string;
  /** Undefined if no account can be connected. */
  createAccount: CreateAccount | undefined;
  editor: Editor;
}

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
  account: nothing,
  connectAccount: () => Promise.resolve(undefined),
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
  /** Whether there was an edit since the form was loaded, saved or discarded. The host knows it. */
  let isEdited = false;
  /** Sent to the host once the user agrees to discard the edits. */
  let departure = channel.left;

  const move = (event: FormEvent): void => {
    const next = transition(state, event);
    if (next === state) return;
    state = next;
    subscriptions.notify('*');
  };

  const report = (failure: Failure): void => {
    const { code, message } = failure;
    // The developer of the host page needs the ID; the user does not.
    channel.error(code === 'type_not_found' ? { ...failure, message: `${message}: ${init.typeId}` } : failure);
  };

  /**
   * Reports to the host that there is unsaved input, or no longer. An undone edit is not reported: it
   * would reveal that a secret was emptied.
   */
  const reportDirty = (dirty: boolean): void => {
    if (dirty !== isEdited) channel.dirty(dirty);
    isEdited = dirty;
  };

  /**
   * Returns the failure to display, and reports it to the host. If the session ended, the host still
   * has time to provide a new one: then `resume` runs, and otherwise the host gets the report.
   */
  const fail = (cause: unknown, action: Action, resume: () => unknown): Failure => {
    const failure = failureOf(cause, action, messages);
    if (cause instanceof SessionExpired)
      void options.renewSession().then((renewed) => (renewed ? resume() : report(failure)));
    else report(failure);
    return failure;
  };

  /** Shows the form without edits. */
  function edit(data: Omit<Loaded, 'editor'>): FormSubject {
    const { type, saved, createAccount } = data;
    const subject = subjectOf(init, type, saved, messages, loaded ? nothing : warn);
    // What was tested, or waits for a session, are other values.
    revision += 1;
    busy.test = undefined;
    const editor = createEditor({
      ...data,
      subject,
      details: initialDraft(init, type, saved, random),
      messages,
      subscriptions,
      account:
        createAccount && ((changed) => createAccount({ ...options, name: type.oauth?.name ?? type.vendor, changed })),
      onEdit() {
        revision += 1;
        reportDirty(true);
        move({ type: 'edited' });
      },
    });
    Object.assign(form, editor.fields);
    loaded = { ...data, editor };
    move({ type: 'loaded', subject });
    return subject;
  }

  async function load(): Promise<void> {
    move({ type: 'loading' });
    try {
      const [type, found, organization] = await Promise.all([
        api.loadType(),
        api.loadConnector(),
        api.loadOrganization(),
      ]);
      // Without it, the secret can be entered all the same.
      const createAccount =
        type.oauth && (await api.offersAccount()) ? await options.loadAccount().catch(nothing) : undefined;
      channel.loaded(edit({ type, etag: null, ...found, organization, createAccount }).title);
    } catch (error) {
      const hopeless = error instanceof ApiError && (error.status === 403 || error.status === 404);
      move({ type: 'load_failed', failure: fail(error, 'load', () => form.retry()), canRetry: !hopeless });
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
   * Assigns the issues of a failed call to their fields. Returns true if a field displays one: then
   * no general message repeats it. The result of a connection test is displayed as a whole, and its
   * fields are only pointed out; they need no correction before a save.
   */
  const applyServerIssues = (error: unknown, { editor }: Loaded): boolean => {
    if (!(error instanceof ApiError) || !error.details.issues?.length) return false;
    const isResult = isTestResult(error);
    const issues = error.details.issues.map((issue): Issue => {
      if (isResult && issue.message === error.message) return { path: issue.path, code: 'unknown_property' };
      return error.type === 'secret_unreadable' ? { ...issue, message: messages.secretUnreadable } : issue;
    });
    // `secret_reentry_required`, `secret_destination_mismatch` and `secret_unreadable`; and a connected account
    // that can't be saved any more.
    const secretsAgain = error.type.startsWith('secret_') || error.type === 'consent_expired';
    if (secretsAgain) for (const { path } of error.details.issues) form.keepSecret(path);
    return editor.applyServerIssues(issues, secretsAgain, !isResult) && !isResult;
  };

  /**
   * Validates the form, runs the action and reports its outcome. A repeated call joins the one in
   * progress.
   */
  const attempt = (
    action: 'save' | 'test',
    confirm: (() => Promise<boolean>) | undefined,
    run: (form: Loaded) => Promise<FormEvent>,
  ): Promise<void> => {
    if (busy[action]) return busy[action];
    const current = loaded;
    const running = (async () => {
      if (!current || state.phase !== 'editing') return;
      if (!current.editor.check()) return move({ type: 'rejected' });
      move({ type: action === 'save' ? 'saving' : 'testing' });
      try {
        if (confirm && !(await confirm())) throw new DestinationNotSeen();
        move(await run(current));
      } catch (error) {
        // The values that were tested have been discarded.
        if (loaded !== current) return;
        const attempted = revision;
        const failure = fail(error, action, () => {
          // Not if the user has changed something or started something else meanwhile.
          if (attempted === revision && state.phase === 'editing' && !state.leaving) void form[action](confirm);
        });
        if (error instanceof SessionExpired) return move({ type: 'expired', failure });
        const isDisplayed = applyServerIssues(error, current);
        if (action === 'save') move({ type: 'save_failed', ...(isDisplayed ? {} : { failure }) });
        else move({ type: 'tested', test: isDisplayed ? { state: 'idle' } : { state: 'failed', failure } });
      }
    })().finally(() => {
      if (busy[action] === running) busy[action] = undefined;
    });
    return (busy[action] = running);
  };

  async function reload(): Promise<void> {
    try {
      const found = await api.loadConnector();
      if (!found || !loaded) return;
      Object.assign(loaded, found);
      loaded.editor.rebase(found.saved, initialDraft(init, loaded.type, found.saved, random));
      move({ type: 'rebased' });
    } catch (error) {
      move({ type: 'save_failed', failure: fail(error, 'save', reload) });
    }
  }

  /** Sends `leave` to the host, once the user agrees to discard unsaved edits, if any. */
  const depart = (leave: () => void): void => {
    if (!form.dirty) {
      reportDirty(false);
      return leave();
    }
    departure = leave;
    move({ type: 'leaving', leaving: true });
  };

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
        const connector = await send(form);
        const { id, name } = connector;
        reportDirty(false);
        channel.saved({ id, name });
        if (state.phase === 'editing' && state.leaving && departure === channel.left) channel.left();
        return { type: 'saved', ...addressOf(connector, messages) };
      }),

    test: (confirm) =>
      attempt('test', confirm, async (form) => {
        const tested = revision;
        const result = await api.test(form.editor.content().config);
        return { type: 'tested', test: tested === revision ? { state: 'passed', ...result } : { state: 'idle' } };
      }),

    cancel: () => depart(channel.cancel),
    askToLeave: () => depart(channel.left),
    discard() {
      // A save can't be taken back: its outcome decides.
      if (busy.save) {
        void busy.save.then(() => form.discard());
        return;
      }
      if (state.phase !== 'editing') return;
      // The host may now ask to unload; the user is not asked again.
      reportDirty(false);
      // The host may keep the frame and show it again.
      if (loaded) edit(loaded);
      subscriptions.notifyTree('');
      departure();
    },
    keepEditing: () => move({ type: 'leaving', leaving: false }),

    async retry() {
      if (state.phase === 'load_failed' && state.canRetry) return load();
      if (state.phase !== 'editing' || !loaded) return;
      if (state.failure?.action === 'reload') return reload();
      if (!state.expired) return;
      if (await options.renewSession()) move({ type: 'renewed' });
      else report(failureFor('session_expired', messages));
    },

    reject(reason) {
      // A command rejected while the user is typing must not change the form.
      if (reason === 'command_while_typing')
        return channel.error({ code: reason, message: messages.developer[reason] });
      const failure = failureFor(reason, messages);
      report(failure);
      move({ type: 'save_failed', failure });
    },

    sessionRenewed: () => move({ type: 'renewed' }),
    online() {
      if (state.phase === 'load_failed' && state.failure.code === 'offline') void form.retry();
      else move({ type: 'online' });
    },

    subscribe: subscriptions.subscribe,
  };
  void load();
  return form;
}
