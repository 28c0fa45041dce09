import type { DeliveryTemplate, PollTemplate } from '@connector-frame/catalog/types';
import { isRecord } from '@connector-frame/engine/connector-api';
import { RawJson, textOf, valueOf, type Scope } from './placeholders.js';

/** Returns the JSON of a template for some values, or `undefined` if there is nothing to say. */
export type Render = (scope: Scope) => string | undefined;

const WHOLE = /^\{\{([^{}]*)\}\}$/;
const EACH = /\{\{([^{}]*)\}\}/g;
/** Placeholders whose value depends on the record or the request. */
const VARIES = /\{\{(?:record|severity@|rendered:|picked:|\.\.\.|id\}|batch|group|now)/;

/**
 * Compiles a template to a function that returns JSON text. Parts that depend on settings alone are
 * rendered once.
 */
export function compileTemplate(template: DeliveryTemplate, settings: Scope['settings']): Render {
  if (!VARIES.test(JSON.stringify(template))) {
    const constant = jsonOf(template, { settings, now: 0 });
    return () => constant;
  }
  if (Array.isArray(template)) {
    const items = template.map((item: DeliveryTemplate) => compileTemplate(item, settings));
    return (scope) => `[${items.flatMap((item) => item(scope) ?? []).join()}]`;
  }
  if (typeof template !== 'object' || template === null || '{{first}}' in template)
    return (scope) => jsonOf(template, scope);
  const properties = Object.entries(template).flatMap(([key, value]: [string, DeliveryTemplate]) => {
    const name = key === '{{...}}' ? undefined : fillText(key, { settings, now: 0 });
    return name === undefined ? [] : [[JSON.stringify(name), compileTemplate(value, settings)] as const];
  });
  if (Object.hasOwn(template, '{{...}}')) return (scope) => extend(scope, properties);
  return (scope) => {
    const parts = properties.flatMap(([key, value]) => {
      const json = value(scope);
      return json === undefined ? [] : [`${key}:${json}`];
    });
    return `{${parts.join()}}`;
  };
}

/** Returns the record with properties that it does not have yet, its own text unchanged. */
function extend(
  { record, ...scope }: Scope,
  properties: readonly (readonly [key: string, value: Render])[],
): string | undefined {
  if (!record) return undefined;
  const own = record.value();
  const parts = properties.flatMap(([key, value]) => {
    const name: unknown = JSON.parse(key);
    const json = typeof name === 'string' && Object.hasOwn(own, name) ? undefined : value({ ...scope, record });
    return json === undefined ? [] : [`${key}:${json}`];
  });
  const inner = record.line.trim().slice(1, -1).trim();
  return `{${[...parts, ...(inner === '' ? [] : [inner])].join()}}`;
}

/** Returns the entries of an object of texts. The entry `{{...}}` stands for all entries of a map. */
export function fillEntries(
  templates: Readonly<Record<string, PollTemplate>> | undefined,
  scope: Scope,
): [name: string, value: string, template: string][] {
  return Object.entries(templates ?? {}).flatMap(([name, template]): [string, string, string][] => {
    if (name !== '{{...}}') {
      const value = fillText(template, scope);
      return value === undefined ? [] : [[name, value, template]];
    }
    const map = valueOf(WHOLE.exec(template)?.[1] ?? '', scope);
    return Object.entries(isRecord(map) ? map : {}).flatMap(([key, value]): [string, string, string][] => {
      const text = textOf(value);
      return text === undefined ? [] : [[key, text, template]];
    });
  });
}

function jsonOf(template: DeliveryTemplate, scope: Scope): string | undefined {
  if (typeof template === 'string') {
    const name = WHOLE.exec(template)?.[1];
    const value = name === undefined ? fillText(template, scope) : valueOf(name, scope);
    if (value === undefined) return undefined;
    return value instanceof RawJson ? value.text : JSON.stringify(value);
  }
  if (Array.isArray(template))
    return `[${template.flatMap((item: DeliveryTemplate) => jsonOf(item, scope) ?? []).join()}]`;
  if (!isRecord(template)) return JSON.stringify(template);
  const choices = template['{{first}}'];
  if (Array.isArray(choices)) {
    for (const choice of choices) {
      const json = jsonOf(choice, scope);
      if (json !== undefined && json !== 'null' && json !== '""') return json;
    }
    return undefined;
  }
  const parts = Object.entries(template).flatMap(([key, value]) => {
    const json = value === undefined ? undefined : jsonOf(value, scope);
    return json === undefined ? [] : [`${JSON.stringify(key)}:${json}`];
  });
  return `{${parts.join()}}`;
}

/**
 * Fills in a text, passing each value through `encode`.
 *
 * @returns `undefined` if a value is missing or empty
 */
export function fillText(
  template: PollTemplate,
  scope: Scope,
  encode: (text: string) => string = (text) => text,
): string | undefined {
  let complete = true;
  const text = template.replaceAll(EACH, (_whole, name: string) => {
    const value = textOf(valueOf(name, scope));
    complete &&= value !== undefined;
    return encode(value ?? '');
  });
  return complete ? text : undefined;
}
