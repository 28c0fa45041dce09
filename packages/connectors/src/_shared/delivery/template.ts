import type { DeliveryTemplate, PollTemplate } from '@connector-frame/catalog/types';
import { isRecord } from '@connector-frame/engine/connector-api';
import { RawJson, textOf, valueOf, type Scope } from './placeholders.js';

/** Returns the JSON of a template for some values, or `undefined` if there is nothing to say. */
export type Render = (scope: Scope) => string | undefined;

const WHOLE = /^\{\{([^{}]*)\}\}$/;
const EACH = /\{\{([^{}]*)\}\}/g;
/** Placeholders whose value depends on the record or the request. */
const VARIES = /\{\{(?:record|rendered:|id\}|batch|now)/;

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
  const properties = Object.entries(template).map(
    ([key, value]: [string, DeliveryTemplate]) => [JSON.stringify(key), compileTemplate(value, settings)] as const,
  );
  return (scope) => {
    const parts = properties.flatMap(([key, value]) => {
      const json = value(scope);
      return json === undefined ? [] : [`${key}:${json}`];
    });
    return `{${parts.join()}}`;
  };
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
