import type { PollRequest, PollTemplate, PollTimeForm } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { writeTime } from './times.js';

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
    const value = valueOf(name, values);
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
export function names(request: PollRequest, name: string): boolean {
  const templates = [request.path, ...Object.values(request.query ?? {}).flat()];
  return templates.some((template) => new RegExp(String.raw`\{\{${name}(?::\w+)?\}\}`).test(template));
}

function valueOf(name: string, values: Values): string | undefined {
  if (name.startsWith('/')) return textOf(getAt({ settings: values.settings }, name));
  const [key = '', form = 'rfc3339'] = name.split(':');
  if (key === 'since') return values.since === undefined ? undefined : writeTime(values.since, formOf(form));
  if (key === 'until') return values.until === undefined ? undefined : writeTime(values.until, formOf(form), true);
  if (key === 'after') return values.after;
  if (key === 'each') return values.each;
  return key === 'page_size' ? textOf(values.page_size) : undefined;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim();
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

const FORMS: readonly PollTimeForm[] = ['rfc3339', 'rfc3339_seconds', 'seconds', 'milliseconds', 'date'];
const formOf = (text: string): PollTimeForm => FORMS.find((form) => form === text) ?? 'rfc3339';
