import type { ConnectorConfig, Issue } from '@connector-frame/catalog/types';
import { destinationOf, getAt, isEmpty, isShown, pruneConfig, setAt } from '@connector-frame/catalog/validate';
import type { Messages } from '../messages/index.js';
import { dependentsOf } from './dependents-of.js';
import { describeIssues, type Problem } from './describe-issues.js';
import { configOf, newRow, settingsDraft, withChoice, withFirstRows, type Draft } from './draft.js';
import { createErrorBoard } from './error-board.js';
import type { Field, SecretState } from './field.js';
import { findField } from './find-field.js';
import { normalize } from './normalize.js';
import { problemsIn } from './problems.js';
import { schemaAt } from './schema-at.js';
import type { SecretEvent } from './secret-state.js';
import { createSecrets } from './secrets.js';
import type { FormSubject } from './state.js';
import type { Subscriptions } from './subscriptions.js';
import { walkFields } from './walk-fields.js';
import type { Connector, ConnectorType } from './wire.js';

export interface EditorOptions {
  type: ConnectorType;
  subject: FormSubject;
  /** Undefined for a new connector. */
  saved: Connector | undefined;
  /** What the name and description inputs hold at first. */
  name: string;
  description: string;
  messages: Messages;
  subscriptions: Subscriptions;
  /** A value changed. */
  onEdit(): void;
  /** The summary changed. */
  onSummary(): void;
}

/** Everything a person can change in a loaded form: values, rows, secrets, and what is wrong with them. Knows no service. */
export interface Editor {
  value(path: string): unknown;
  setValue(path: string, value: unknown): void;
  rows(path: string): number;
  addRow(path: string): void;
  removeRow(path: string, index: number): void;
  secret(path: string): SecretState;
  /** What a person does to a secret beside typing. */
  stepSecret(path: string, event: Exclude<SecretEvent, 'typed' | 'moved'>): void;
  shown(path: string): boolean;
  error(path: string): string | undefined;
  leave(path: string): void;
  readonly summary: readonly Problem[];
  /** Tidies and checks everything. False: the summary says why, and nothing may be sent. */
  check(): boolean;
  /** Puts the service's issues on their fields, and asks for the secrets it wants again. Returns how many found a field. */
  land(issues: readonly Issue[], secretsAgain: boolean): number;
  /** The configuration to send; its secrets are the ones typed. */
  config(): ConnectorConfig;
  /** A newer version of the connector, under what was typed. */
  rebase(saved: Connector, name: string, description: string): void;
  /** Whether leaving would lose something typed. */
  readonly dirty: boolean;
}

/** Name and description are the connector's own; here they are fields like the others. */
const ownFields = ({ nameEditable, descriptionEditable }: FormSubject, messages: Messages): Field[] =>
  [
    { key: 'name', label: messages.name, required: true, shown: nameEditable },
    { key: 'description', label: messages.description, required: false, shown: descriptionEditable },
  ]
    .filter(({ shown }) => shown)
    .map(({ key, label, required }) => ({
      kind: 'text',
      path: `/${key}`,
      key,
      label,
      required,
      advanced: false,
      deprecated: false,
      destination: false,
    }));

const same = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

export function createEditor({
  type,
  subject,
  saved,
  name,
  description,
  messages,
  subscriptions,
  onEdit,
  onSummary,
}: EditorOptions): Editor {
  const schema = type.config;
  const fields: readonly Field[] = [...ownFields(subject, messages), ...subject.fields, ...subject.advanced];
  // Words of the vendor's own name keep their capitals inside a sentence.
  const names = type.vendor.split(/\s+/);
  const dependents = dependentsOf(fields);
  const { notify, notifyTree } = subscriptions;
  const board = createErrorBoard(notify, onSummary);
  const touched = new Set<string>();

  const draftOf = (from: Connector | undefined, ownName: string, ownDescription: string): Draft =>
    withFirstRows(
      {
        name: ownName,
        description: ownDescription,
        settings: settingsDraft(schema, from?.config.settings),
        secrets: {},
      },
      fields,
      schema,
    );
  let initial = draftOf(saved, name, description);
  let draft = initial;

  const keys = Object.keys(schema.secrets.properties);
  const secrets = createSecrets(keys, saved?.config.secrets ?? {}, (path) => getAt(draft, path));
  const convert = (from: Draft): ConnectorConfig => configOf(schema, from, secrets.typed).config;
  const destination = (from: Draft): string => destinationOf(schema, convert(from).settings);
  let savedDestination = destination(initial);

  const issues = (): Issue[] => problemsIn({ schema, fields, draft, secretAt: secrets.get, kept: secrets.kept() });
  const describe = (found: readonly Issue[]): Problem[] => describeIssues(found, fields, secrets.get, messages, names);

  const move = (): void => {
    for (const path of secrets.move(() => destination(draft) !== savedDestination)) notify(path);
  };

  /** Tells whoever depends on a value that changed. */
  const changed = (path: string): void => {
    for (const { on, path: dependent } of dependents)
      if (on === path || on.startsWith(`${path}/`)) notifyTree(dependent);
    if (path.startsWith('/settings/')) move();
    board.forgive(path, () => describe(issues()));
    onEdit();
  };

  /** Stores without telling of errors, conditions or destinations. */
  const store = (path: string, value: unknown): void => {
    draft = setAt(draft, path, value);
    const secret = /^\/secrets\/[^/]+/.exec(path)?.[0];
    if (secret !== undefined && secrets.step(secret, 'typed') && secret !== path) notify(secret);
  };

  const rowsAt = (path: string): readonly unknown[] => {
    const rows = getAt(draft, path);
    return Array.isArray(rows) ? rows : [];
  };

  const setRows = (path: string, rows: readonly unknown[]): void => {
    store(path, rows);
    notifyTree(path);
    changed(path);
  };

  /** Normalizes one value; true when that changed it. */
  const tidy = ({ field, path }: { field: Field; path: string }): boolean => {
    const before = getAt(draft, path);
    const after = normalize(field, before);
    if (same(before, after)) return false;
    store(path, after);
    notifyTree(path);
    return true;
  };

  /** Blank rows mean nothing, and the service would count without them. */
  const compact = (): void => {
    for (const { field, path } of [...walkFields(fields, draft)]) {
      if (field.kind !== 'string-list' && field.kind !== 'object-list') continue;
      const rows = rowsAt(path);
      const filled = rows.filter((row) => !isEmpty(row));
      if (filled.length < rows.length) setRows(path, filled);
    }
  };

  return {
    value: (path) => getAt(draft, path),

    setValue(path, value) {
      if (getAt(draft, path) === value) return;
      touched.add(path);
      store(path, value);
      const found = findField(fields, path);
      // The body of a choice just made starts with its defaults; what was typed into it before is still there.
      if (found?.field.kind === 'variants') draft = withChoice(draft, schema, found.field.path);
      if (typeof value === 'object') notifyTree(path);
      else notify(path);
      if (found && found.field.path !== path && found.field.kind === 'variants') notifyTree(found.field.path);
      changed(path);
    },

    rows: (path) => rowsAt(path).length,

    addRow(path) {
      const found = findField(fields, path);
      if (found) setRows(path, [...rowsAt(path), newRow(found.field, schemaAt(schema, path))]);
    },

    removeRow(path, index) {
      board.forget(path);
      setRows(path, rowsAt(path).toSpliced(index, 1));
    },

    secret: (path) => secrets.get(path),

    stepSecret(path, event) {
      draft = setAt(draft, path, undefined);
      secrets.step(path, event);
      notifyTree(path);
      changed(path);
    },

    shown: (path) => isShown(findField(fields, path)?.field.when, draft),
    error: (path) => board.at(path),

    leave(path) {
      const found = findField(fields, path);
      if (found && tidy({ field: found.field, path })) changed(path);
      // Passing through a field says nothing about it yet.
      const due = issues().filter(({ path: at, code }) => code !== 'required' || touched.has(at) || board.at(at));
      board.judge(path, describe(due));
    },

    get summary() {
      return board.summary;
    },

    check() {
      const tidied = [...walkFields(fields, draft)].filter(tidy);
      for (const { path } of tidied) changed(path);
      const problems = describe(issues());
      board.refuse(problems);
      if (problems.length > 0) return false;
      compact();
      return true;
    },

    land(found, secretsAgain) {
      if (secretsAgain) for (const path of secrets.ask(found.map(({ path }) => path))) notify(path);
      const { cells } = configOf(schema, draft, secrets.typed);
      const problems = describe(found.map((issue) => ({ ...issue, path: cells.get(issue.path) ?? issue.path })));
      board.land(problems);
      return problems.length;
    },

    config: () => pruneConfig(schema, convert(draft)),

    rebase(fresh, freshName, freshDescription) {
      const before = initial;
      const typed = draft;
      initial = draftOf(fresh, freshName, freshDescription);
      const merged = { ...initial.settings };
      for (const key of Object.keys(schema.settings.properties))
        if (!same(typed.settings[key], before.settings[key])) merged[key] = typed.settings[key];
      draft = {
        name: typed.name === before.name ? freshName : typed.name,
        description: typed.description === before.description ? freshDescription : typed.description,
        settings: merged,
        secrets: typed.secrets,
      };
      savedDestination = destination(initial);
      secrets.rebase(fresh.config.secrets);
      move();
      for (const root of ['/name', '/description', '/settings', '/secrets']) notifyTree(root);
    },

    get dirty() {
      return secrets.touched || !same(draft, initial);
    },
  };
}
