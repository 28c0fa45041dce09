import type { ConnectorConfigSchema, Issue, IssueCode, StringSchema } from '@connector-frame/catalog/types';
import { getAt, isEmpty, joinPointer, validateConfig } from '@connector-frame/catalog/validate';
import type { Messages } from '../messages/index.js';
import { schemaOf } from './build-fields.js';
import { configOf, isMapRow, type Draft } from './draft.js';
import type { Field } from './field.js';
import { keptOf } from './secret-state.js';
import type { Secrets } from './secrets.js';
import { walkFields, type FieldInstance } from './walk-fields.js';

/** A validation problem, at the path where it is displayed. */
export interface Problem {
  path: string;
  label: string;
  message: string;
  code: IssueCode;
}

export interface ProblemContext {
  schema: ConnectorConfigSchema;
  fields: readonly Field[];
  secrets: Secrets;
  messages: Messages;
  /** Words that keep their capital letter inside a sentence. */
  names: readonly string[];
}

/**
 * Returns the issues that only a draft can have, because a config cannot represent them: map rows
 * with a missing or duplicate name, and secrets that must be entered again.
 */
function draftIssues(fields: readonly Field[], draft: Draft, secrets: Secrets): Issue[] {
  const seen = new Set<string>();
  return [...walkFields(fields, draft, false)].flatMap(({ field, path, cell, list }): Issue[] => {
    const value = getAt(draft, path);
    const required: Issue[] = [{ path, code: 'required' }];
    if (cell === 'key') {
      const row = getAt(draft, path.slice(0, -'/key'.length));
      if (isEmpty(value)) return isMapRow(row) && !isEmpty(row.value) ? required : [];
      const place = `${list?.path} ${String(value).trim()}`;
      if (seen.has(place)) return [{ path, code: 'unique_items' }];
      seen.add(place);
    }
    if (path === '/name') return isEmpty(value) ? required : [];
    if (field.kind !== 'secret' || cell) return [];
    const secret = secrets.get(path);
    return secret.state === 'reentry' || (secret.state === 'typing' && isEmpty(value)) ? required : [];
  });
}

/**
 * Returns all problems of the draft and the service's issues, as messages in display order, at most
 * one per path. Omits issues that match no field.
 *
 * @param serverIssues issues of the service; their paths point into a config
 */
export function problemsIn(draft: Draft, serverIssues: readonly Issue[], context: ProblemContext): Problem[] {
  const { schema, fields, secrets, messages, names } = context;
  const { config, cells } = configOf(schema, draft, secrets.typed);
  const issues = new Map<string, Issue>();
  for (const issue of [
    // A message from the service takes precedence: it says more than that the secret must be
    // entered again.
    ...serverIssues.filter(({ path, message }) => message !== undefined && path.startsWith('/secrets/')),
    ...draftIssues(fields, draft, secrets),
    ...[...validateConfig(schema, config, { kept: secrets.kept() }), ...serverIssues].map((issue) => ({
      ...issue,
      path: cells.get(issue.path) ?? issue.path,
    })),
  ])
    if (!issues.has(issue.path)) issues.set(issue.path, issue);

  const problems = new Map<string, Problem>();
  for (const instance of walkFields(fields, draft, true)) {
    const issue = issues.get(instance.path);
    if (!issue) continue;
    const { field } = instance;
    // Report the problem on the control that selects the variant, not on the field around it.
    const path = field.kind === 'variants' ? joinPointer(field.path, field.discriminator) : instance.path;
    problems.set(path, {
      path,
      label: labelOf(instance, messages),
      code: issue.code,
      message: messages.issue(issue, subjectOf(instance, secrets), names),
    });
  }
  return [...problems.values()];
}

/** Returns the label of a field, or of a list row, in the summary. */
export const labelOf = ({ field, list, row }: FieldInstance, messages: Messages): string =>
  list && row ? messages.row(list.label, row) : field.label;

const wrong = (format: string, found: string): Omit<Issue, 'path'> => ({ code: 'format', params: { format, found } });

/**
 * Returns the error messages that a secret field could display; of messages that differ by what was
 * found, the longest.
 */
export function possibleErrors({ field, path }: FieldInstance, { messages, names, secrets }: ProblemContext): string[] {
  const schema = schemaOf(field);
  if (!schema || field.kind !== 'secret') return [];
  const text: Partial<StringSchema> = schema.type === 'string' ? schema : {};
  const { minLength = 0, maxLength = 65_536, format = '', 'x-message': message, 'x-private-key': key } = text;
  const ruled: Omit<Issue, 'path'>[] = [{ code: 'pattern' }, wrong(format, 'cut_off'), wrong(format, '')];
  const issues: Omit<Issue, 'path'>[] = [
    { code: 'required' },
    { code: 'masked' },
    { code: 'max_length', params: { maxLength } },
    { code: 'min_length', params: { minLength } },
    // The longest of its messages.
    ...(key ? [wrong('private-key', 'encrypted')] : []),
    ...(message ? [{ code: 'pattern', message } as const] : ruled),
  ];
  const subjects: Partial<Parameters<Messages['issue']>[1]>[] = keptOf(secrets.get(path))
    ? [{ secret: 'reentry' }, { secret: 'replacing' }, {}]
    : field.shape === 'map'
      ? [{}, { kind: 'key' }, { kind: 'value' }]
      : [{}];
  return subjects.flatMap((subject) =>
    issues.map((issue) => messages.issue({ ...issue, path }, { ...field, ...subject }, names)),
  );
}

/** Returns the properties of a field that error messages use. */
function subjectOf({ field, path, cell }: FieldInstance, secrets: Secrets): Parameters<Messages['issue']>[1] {
  const secret = field.kind === 'secret' && secrets.get(path);
  const again = secret && (secret.state === 'reentry' ? 'reentry' : 'replaces' in secret && 'replacing');
  return { ...field, kind: cell ?? field.kind, ...(again && { secret: again }) };
}
