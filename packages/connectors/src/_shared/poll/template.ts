import type { PollParameter, PollRequest, PollTemplate, PollTimeForm } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { isRecord, type DataRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { formatTime, isNumeric } from './times.js';

/** Values for template placeholders. Times are milliseconds since the epoch. */
export interface Values {
  settings: Readonly<Record<string, unknown>>;
  /** Values that the definition computes from settings. */
  named?: Readonly<Record<string, JsonValue>>;
  since?: number;
  until?: number;
  after?: string;
  each?: string;
  /** Values of the entry, by their pointers. */
  entry?: Readonly<Record<string, JsonValue>>;
  /** ID of the entry that `each` belongs to. */
  parent?: string;
  /** Record of a list whose detail is requested. */
  record?: DataRecord;
  /** ID of a record that was stored. */
  id?: string;
  /** IDs of a batch of records. */
  ids?: readonly string[];
  /** ID of an export, and of the part that is read. */
  job?: string;
  part?: string;
  page_size?: number;
  /** Of a header: identifies the request. */
  uuid?: string;
  /** Value of a list parameter. */
  item?: string;
  /** For relative times. Default: the system's time. */
  now?: number;
  /** Zone of times without one. Default `UTC`. */
  zone?: string;
}

/**
 * Fills in a template, passing each value through `encode`, with whether its slashes are to be kept.
 * The syntax is documented in `packages/catalog/src/poll.ts`.
 *
 * @returns `undefined` if a value is missing or empty
 */
export function fill(
  template: PollTemplate,
  values: Values,
  encode: (text: string, isPath: boolean) => string = (text) => text,
): string | undefined {
  let complete = true;
  const text = template.replaceAll(/\{\{([^{}]*?)(\|path)?\}\}/g, (_whole, name: string, type?: string) => {
    const value = name === 'ids' ? values.ids?.join(',') : textOf(valueOf(name, values));
    complete &&= value !== undefined && value !== '';
    return encode(value ?? '', type !== undefined);
  });
  return complete ? text : undefined;
}

/**
 * Returns the parameters of a query or form in the order of the definition, without those that have
 * no value.
 */
export function parametersOf(
  parameters: Readonly<Record<string, PollParameter>> | undefined,
  values: Values,
): [string, string][] {
  return Object.entries(parameters ?? {}).flatMap(([name, parameter]) =>
    parameterValues(parameter, values).map((value): [string, string] => [name, value]),
  );
}

function parameterValues(parameter: PollParameter, values: Values): string[] {
  if (typeof parameter === 'number' || typeof parameter === 'boolean') return [String(parameter)];
  const fillAll = (templates: readonly PollTemplate[]): string[] =>
    templates.flatMap((template) => fill(template, values) ?? []);
  if (typeof parameter === 'string') return fillAll([parameter]);
  if (isTemplates(parameter)) return joined(fillAll(parameter), ' ');
  const { list, join, item = '{{item}}' } = parameter;
  const items =
    typeof list === 'string' ? [valueOf(list, values)].flat().flatMap((value) => textOf(value) ?? []) : fillAll(list);
  const texts = items.flatMap((value) => (value === '' ? [] : (fill(item, { ...values, item: value }) ?? [])));
  return join === undefined ? texts : joined(texts, join);
}

const joined = (parts: readonly string[], separator: string): string[] =>
  parts.length === 0 ? [] : [parts.join(separator)];

const isTemplates = (parameter: PollParameter): parameter is readonly PollTemplate[] => Array.isArray(parameter);

/** Whether a request's templates use the placeholder `name`, such as `since` or `until`. */
export function usesPlaceholder(request: PollRequest, name: string): boolean {
  const { path, query, headers, body, form, graphql } = request;
  const templates = JSON.stringify([path, query, headers, body, form, graphql?.variables]);
  return new RegExp(String.raw`\{\{${name}(?:[:|][^{}]+)?\}\}`).test(templates);
}

/**
 * Returns the value of a placeholder with its type; times in a numeric format are numbers. Strings
 * are trimmed.
 */
export function valueOf(placeholder: string, values: Values): JsonValue | undefined {
  const [, name = placeholder, letters] = /^(.*):(lower|upper)$/.exec(placeholder) ?? [];
  const value = plainValueOf(name, values);
  if (typeof value !== 'string' || letters === undefined) return value;
  return letters === 'lower' ? value.toLowerCase() : value.toUpperCase();
}

function plainValueOf(name: string, values: Values): JsonValue | undefined {
  if (name.startsWith('/record/')) return jsonOf(getAt({ record: values.record }, name));
  if (name.startsWith('/')) return jsonOf(getAt({ settings: values.settings }, name));
  const [key = '', ...rest] = name.split(':');
  const form = rest.length === 0 ? 'rfc3339' : rest.join(':');
  if (key === 'since') return values.since === undefined ? undefined : timeOf(values.since, form, values);
  if (key === 'until') return values.until === undefined ? undefined : timeOf(values.until, form, values, true);
  if (key === 'after') return values.after;
  if (key === 'each') return values.each;
  if (key.startsWith('each/')) return values.entry?.[name.slice('each'.length)];
  if (key === 'item' || key === 'uuid') return values[key];
  if (key === 'parent' || key === 'job' || key === 'part' || key === 'ids' || key === 'id') return values[key];
  if (key === 'page_size') return values.page_size;
  return values.named && Object.hasOwn(values.named, name) ? values.named[name] : undefined;
}

/** Settings and records are JSON. */
export function jsonOf(value: unknown): JsonValue | undefined {
  if (typeof value === 'string') return value.trim();
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((item: unknown) => jsonOf(item) ?? null);
  return isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, jsonOf(each)]))
    : undefined;
}

function timeOf(ms: number, form: PollTimeForm, { now, zone }: Values, up = false): string | number {
  const text = formatTime(ms, form, { up, ...(now !== undefined && { now }), ...(zone !== undefined && { zone }) });
  // Beyond 2^53, a number would lose digits.
  return isNumeric(form) && Number.isSafeInteger(Number(text)) ? Number(text) : text;
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
