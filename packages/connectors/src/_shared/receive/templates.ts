import type { ReceiveTemplate } from '@connector-frame/catalog/types';
import { isPlain } from '@connector-frame/catalog/validate';
import type { RequestHead } from '@connector-frame/engine/connector-api';

/** Returns a header of a request; `''` if it is absent, or repeated where it may not be. */
export function headerOf({ headers }: RequestHead, name: string): string {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' ? value : '';
}

/** Returns the value of a placeholder, or `undefined` if there is none. */
export type ValueOf = (name: string) => string | number | undefined;

/** Values that come from a request and the time. */
export const valuesOf =
  (head: RequestHead, now: number, others: Readonly<Record<string, string>> = {}): ValueOf =>
  (name) => {
    if (name.startsWith('header.')) return headerOf(head, name.slice('header.'.length)) || undefined;
    if (name === 'now:milliseconds') return now;
    if (name === 'now:seconds') return Math.floor(now / 1_000);
    if (name === 'now:rfc3339') return new Date(now).toISOString();
    return Object.hasOwn(others, name) ? others[name] : undefined;
  };

/** Fills in a text; `undefined` if a value is missing. */
export function fillText(template: string, valueOf: ValueOf): string | number | undefined {
  const [, alone] = /^\{\{([^{}]*)\}\}$/.exec(template) ?? [];
  if (alone !== undefined) return valueOf(alone);
  let complete = true;
  const text = template.replaceAll(/\{\{([^{}]*)\}\}/g, (_whole, name: string) => {
    const value = valueOf(name);
    complete &&= value !== undefined;
    return String(value ?? '');
  });
  return complete ? text : undefined;
}

/** Fills in a JSON template. Properties without a value are omitted. */
export function fillJson(template: ReceiveTemplate, valueOf: ValueOf): unknown {
  if (typeof template === 'string') return fillText(template, valueOf);
  if (Array.isArray(template)) return template.map((each: ReceiveTemplate) => fillJson(each, valueOf));
  if (!isPlain(template)) return template;
  return Object.fromEntries(
    Object.entries(template as Readonly<Record<string, ReceiveTemplate>>).map(([key, each]) => [
      key,
      fillJson(each, valueOf),
    ]),
  );
}
