import type { PollRequest, PollTemplate, PollTimeForm } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { isRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { formatTime } from './times.js';

/** Values for template placeholders. Times are milliseconds since the epoch. */
export interface Values {
  settings: Readonly<Record<string, unknown>>;
  since?: number;
  until?: number;
  after?: string;
  each?: string;
  page_size?: number;
}

/**
 * Fills in a template, passing each value through `encode`. The syntax is documented in
 * `packages/catalog/src/poll.ts`.
 *
 * @returns `undefined` if a value is missing or empty
 */
export function fill(
  template: PollTemplate,
  values: Values,
  encode: (text: string) => string = (text) => text,
): string | undefined {
  let complete = true;
  const text = template.replaceAll(/\{\{([^{}]*)\}\}/g, (_whole, name: string) => {
    const value = textOf(valueOf(name, values));
    complete &&= value !== undefined && value !== '';
    return encode(value ?? '');
  });
  return complete ? text : undefined;
}

/**
 * Returns the query parameters in the order of the definition, without those that have no value.
 */
export function queryOf(query: PollRequest['query'], values: Values): [string, string][] {
  return Object.entries(query ?? {}).flatMap(([name, templates]): [string, string][] => {
    const parts = [templates].flat().flatMap((template) => fill(template, values) ?? []);
    return parts.length === 0 ? [] : [[name, parts.join(' ')]];
  });
}

/** Whether a request's templates use the placeholder `name`, such as `since` or `until`. */
export function usesPlaceholder(request: PollRequest, name: string): boolean {
  const { path, query, body, form, graphql } = request;
  const templates = JSON.stringify([path, query, body, form, graphql?.variables]);
  return new RegExp(String.raw`\{\{${name}(?::\w+)?\}\}`).test(templates);
}

/**
 * Returns the value of a placeholder with its type; times in a numeric format are numbers. Strings
 * are trimmed.
 */
export function valueOf(name: string, values: Values): JsonValue | undefined {
  if (name.startsWith('/')) return settingOf(getAt({ settings: values.settings }, name));
  const [key = '', form = 'rfc3339'] = name.split(':');
  if (key === 'since') return values.since === undefined ? undefined : timeOf(values.since, formOf(form));
  if (key === 'until') return values.until === undefined ? undefined : timeOf(values.until, formOf(form), true);
  if (key === 'after') return values.after;
  if (key === 'each') return values.each;
  return key === 'page_size' ? values.page_size : undefined;
}

/** Settings are JSON. */
function settingOf(value: unknown): JsonValue | undefined {
  if (typeof value === 'string') return value.trim();
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map((item: unknown) => settingOf(item) ?? null);
  return isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, settingOf(each)]))
    : undefined;
}

const timeOf = (ms: number, form: PollTimeForm, up = false): string | number => {
  const text = formatTime(ms, form, up);
  return form === 'seconds' || form === 'milliseconds' ? Number(text) : text;
};

function textOf(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

const FORMS: readonly PollTimeForm[] = ['rfc3339', 'rfc3339_seconds', 'seconds', 'milliseconds', 'date'];
const formOf = (text: string): PollTimeForm => FORMS.find((form) => form === text) ?? 'rfc3339';
