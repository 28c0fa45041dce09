import type { ConnectorConfig, Issue } from '@connector-frame/catalog/types';
import { destinationOf, getAt, isEmpty, isShown, pruneConfig, setAt } from '@connector-frame/catalog/validate';
import type { Messages } from '../messages/index.js';
import { configOf, newRow, settingsDraft, withChoice, type Draft } from './draft.js';
import type { Account } from './account.js';
import { createErrors } from './errors.js';
import type { Field } from './field.js';
import type { Form } from './form.js';
import { normalize } from './normalize.js';
import { labelOf, possibleErrors, problemsIn, type Problem } from './problems.js';
import { sentTo } from './sent-to.js';
import { keptOf } from './secret-state.js';
import { createSecrets } from './secrets.js';
import type { SecretEvent } from './secret-state.js';
import type { FormSubject } from './state.js';
import type { Subscriptions } from './subscriptions.js';
import { walkFields, type FieldInstance } from './walk-fields.js';
import type { Connector, ConnectorType, NewConnector } from './wire.js';

export interface EditorOptions {
  type: ConnectorType;
  subject: FormSubject;
  /** Undefined for a new connector. */
  saved?: Connector | undefined;
  /** Name of the session's organization. */
  organization: string;
  /** Initial name and description. */
  details: Pick<Draft, 'name' | 'description'>;
  messages: Messages;
  /** Changes of the summary notify `*`. */
  subscriptions: Subscriptions;
  /** Called after each value change. */
  onEdit: () => void;
  /** Connects accounts, if the service offers it for the type. */
  account?: ((changed: () => void) => Account) | undefined;
}

/** The members of `Form` that concern its fields. */
export type Fields = Omit<
  Form,
  | 'state'
  | 'summary'
  | 'rejected'
  | 'reject'
  | 'save'
  | 'test'
  | 'cancel'
  | 'discard'
  | 'keepEditing'
  | 'retry'
  | 'subscribe'
>;

/**
 * The editable state of a loaded form: values, rows, secrets and their errors. Makes no API calls.
 */
export interface Editor {
  fields: Fields;
  /** Returns the remaining problems of the last rejected save or test, in display order. */
  summary: () => readonly Problem[];
  /** Returns whether the last save or test was rejected and there may still be problems to fix. */
  rejected: () => boolean;
  /**
   * Normalizes and validates everything. Returns false if there are problems: then the summary
   * lists them, and nothing may be sent.
   */
  check: () => boolean;
  /**
   * Assigns the service's issues to their fields. With `secretsAgain`, also requires the secrets at
   * their paths to be entered again. Returns whether an issue matched a field.
   *
   * @param list whether the summary lists them
   */
  applyServerIssues: (issues: readonly Issue[], secretsAgain: boolean, list: boolean) => boolean;
  /**
   * Returns the content to send: all settings, and only the secrets that were entered or cleared.
   */
  content: () => NewConnector;
  /** Replaces the saved connector with a newer version; the user's edits stay on top of it. */
  rebase: (saved: Connector, details: EditorOptions['details']) => void;
  /** Returns whether there are unsaved edits. */
  isDirty: () => boolean;
}

const same = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

export function createEditor(options: EditorOptions): Editor {
  const { type, subject, saved, organization, messages, onEdit } = options;
  const { notify, notifyTree } = options.subscriptions;
  const schema = type.config;
  const fields: readonly Field[] = [...subject.fields, ...subject.advanced];

  const draftOf = (from: Connector | undefined, details: EditorOptions['details']): Draft => ({
    ...details,
    settings: settingsDraft(schema, from?.config.settings),
    secrets: {},
  });
  let initial = draftOf(saved, options.details);
  let draft = initial;

  const secrets = createSecrets(Object.keys(schema.secrets.properties), saved?.config.secrets ?? {}, (path) =>
    getAt(draft, path),
  );
  const convert = (from: Draft): ConnectorConfig => configOf(schema, from, secrets.typed).config;
  const destination = (from: Draft): string => destinationOf(schema, convert(from).settings);
  let savedDestination = destination(initial);

  // Words of the vendor's name keep their capital letters inside a sentence.
  const context = { schema, fields, secrets, messages, names: type.vendor.split(/\s+/) };
  const touched = new Set<string>();
  const errors = createErrors((serverIssues) => problemsIn(draft, serverIssues, context), notify);

  // Rendering looks up every field. A draft is never mutated, so one walk is cached until the next
  // edit.
  let walked: { draft: Draft; instances: Map<string, FieldInstance> } | undefined;
  const find = (path: string): FieldInstance | undefined => {
    if (walked?.draft !== draft) {
      const instances = new Map<string, FieldInstance>();
      for (const instance of walkFields(fields, draft, true))
        if (!instances.has(instance.path)) instances.set(instance.path, instance);
      walked = { draft, instances };
    }
    return walked.instances.get(path);
  };

  const move = (): void => {
    for (const path of secrets.move(() => destination(draft) !== savedDestination)) notify(path);
  };

  const secretFields = fields.filter(({ kind }) => kind === 'secret');
  const sentToContext = { type, fields, organization, messages };
  const sentToNow = (): string => secretFields.map((secret) => sentTo(secret, draft, sentToContext)).join('\n');
  let lastSentTo = sentToNow();

  /** Notifies the secret fields if the sentence that names their destination has changed. */
  const redirect = (): void => {
    const now = sentToNow();
    if (now === lastSentTo) return;
    lastSentTo = now;
    for (const { path } of secretFields) notifyTree(path);
  };

  const accountPath = type.oauth?.secret;
  const account = options.account?.(() => accountPath !== undefined && notify(accountPath));
  /** Destination that the account was connected for. */
  let connectedFor: string | undefined;

  /** The service keeps an account only for the destination that it was connected for. */
  const disconnectMoved = (): void => {
    if (accountPath === undefined || connectedFor === undefined || destination(draft) === connectedFor) return;
    connectedFor = undefined;
    account?.reset();
    if (secrets.step(accountPath, 'keep')) notify(accountPath);
  };

  /** Notifies fields whose condition depends on `path`, and updates secrets and errors. */
  const changed = (path: string): void => {
    for (const { field, path: dependent } of walkFields(fields, draft, true)) {
      const { when } = field;
      if (when && [when, ...(when.and ?? [])].some((on) => `${on.path}/`.startsWith(`${path}/`))) notifyTree(dependent);
    }
    if (path.startsWith('/settings/')) {
      move();
      disconnectMoved();
      redirect();
    }
    errors.clearResolved(path);
    onEdit();
  };

  const store = (path: string, value: unknown): void => {
    draft = setAt(draft, path, value);
    const secret = /^\/secrets\/[^/]+/.exec(path)?.[0];
    if (secret !== undefined && secrets.step(secret, 'typed') && secret !== path) notify(secret);
  };

  const rowsAt = (path: string): readonly unknown[] => {
    const rows = getAt(draft, path);
    return Array.isArray(rows) ? rows : [];
  };

  const put = (path: string, value: unknown): void => {
    store(path, value);
    notifyTree(path);
    changed(path);
  };

  let rejected = false;

  const secretEntries = (): { path: string; label: string }[] =>
    [...walkFields(fields, draft, false)].flatMap((instance) => {
      const { field, path } = instance;
      if (field.kind !== 'secret') return [];
      const { state } = secrets.get(/^\/secrets\/[^/]+/.exec(path)?.[0] ?? path);
      return state === 'kept' || state === 'cleared' || state === 'connected'
        ? []
        : [{ path, label: labelOf(instance, messages) }];
    });

  const tidy = ({ field, path }: FieldInstance): void => {
    const value = getAt(draft, path);
    const normalized = normalize(field, value);
    // A saved value is not normalized until the user edits it.
    if (value !== normalized && value !== getAt(initial, path)) put(path, normalized);
  };

  const step =
    (event: SecretEvent) =>
    (path: string): void => {
      draft = setAt(draft, path, undefined);
      secrets.step(path, event);
      notifyTree(path);
      changed(path);
    };

  return {
    fields: {
      value: (path) => getAt(draft, path),

      setValue(path, value) {
        if (getAt(draft, path) === value) return;
        touched.add(path);
        store(path, value);
        const { field } = find(path) ?? {};
        // A variant selected again still has its earlier values; a new one starts with its
        // defaults.
        if (field?.kind === 'variants') draft = withChoice(draft, field);
        notifyTree(field?.kind === 'variants' ? field.path : path);
        changed(path);
      },

      rows: (path) => rowsAt(path).length,

      addRow(path) {
        const { field } = find(path) ?? {};
        if (field) put(path, [...rowsAt(path), newRow(field)]);
      },

      removeRow(path, index) {
        errors.forget(path);
        put(path, rowsAt(path).toSpliced(index, 1));
      },

      secret: secrets.get,
      replaceSecret: step('replace'),
      keepSecret: step('keep'),
      clearSecret: step('clear'),

      account(path) {
        if (path !== accountPath || !account) return undefined;
        return account.offer(keptOf(secrets.get(path))?.account?.needsReauth === true);
      },

      async connectAccount(path) {
        if (path !== accountPath || !account) return undefined;
        const at = destination(draft);
        const connected = await account.connect(convert(draft).settings);
        if (!connected) return undefined;
        if (destination(draft) !== at) {
          account.reset();
          return undefined;
        }
        draft = setAt(draft, path, undefined);
        secrets.connect(path, connected);
        connectedFor = at;
        notifyTree(path);
        changed(path);
        return connected.account ? messages.accountConnectedAs(connected.account) : messages.accountConnected;
      },

      secretEntries,

      sentTo(path) {
        const { field } = find(path) ?? {};
        return field ? sentTo(field, draft, sentToContext) : '';
      },

      possibleErrors(path) {
        const instance = find(path);
        return instance ? possibleErrors(instance, context) : [];
      },

      shown: (path) => isShown(find(path)?.field.when, draft),
      error: errors.at,

      leave(path) {
        const instance = find(path);
        if (instance) tidy(instance);
        // Do not report a missing value if the user only passed through the field.
        errors.judge(path, ({ path: at, code }) => code !== 'required' || touched.has(at));
      },
    },

    summary: errors.summary,

    // While a secret is being entered, the host page must not learn that the last error is gone: it
    // may have been the error of the secret.
    rejected: () => rejected && (errors.summary().length > 0 || secretEntries().length > 0),

    check() {
      rejected = true;
      for (const instance of Array.from(walkFields(fields, draft, false))) tidy(instance);
      if (!errors.judgeAll()) return false;
      // The service ignores blank rows, and the row indexes in its issues do not count them.
      for (const { field, path } of Array.from(walkFields(fields, draft, false))) {
        const rows = rowsAt(path);
        if (field.kind.endsWith('list') && rows.some((row) => isEmpty(row)))
          put(
            path,
            rows.filter((row) => !isEmpty(row)),
          );
      }
      rejected = false;
      return true;
    },

    applyServerIssues(issues, secretsAgain, list) {
      if (secretsAgain) for (const path of secrets.requireReentry(issues.map(({ path }) => path))) notify(path);
      const isDisplayed = errors.applyServerIssues(issues, list);
      rejected = list && isDisplayed;
      return isDisplayed;
    },

    content() {
      const { settings, secrets: typed } = pruneConfig(schema, convert(draft));
      const values = Object.entries(typed).map(([key, value]) => [key, { value }] as const);
      const cleared = secrets.cleared().map((key) => [key, null] as const);
      const connected = secrets.connected().map(([key, consent]) => [key, { consent }] as const);
      const { name, description } = draft;
      return {
        name,
        description,
        config: { settings, secrets: Object.fromEntries([...cleared, ...connected, ...values]) },
      };
    },

    rebase(fresh, details) {
      const before = initial;
      initial = draftOf(fresh, details);
      const merged = (key: 'name' | 'description'): string => (draft[key] === before[key] ? initial : draft)[key];
      const edited = Object.entries(draft.settings).filter(([key, value]) => !same(value, before.settings[key]));
      draft = {
        name: merged('name'),
        description: merged('description'),
        settings: { ...initial.settings, ...Object.fromEntries(edited) },
        secrets: draft.secrets,
      };
      savedDestination = destination(initial);
      secrets.rebase(fresh.config.secrets);
      move();
      redirect();
      for (const root of ['/name', '/description', '/settings', '/secrets']) notifyTree(root);
    },

    isDirty: () => secrets.touched() || !same(draft, initial),
  };
}
