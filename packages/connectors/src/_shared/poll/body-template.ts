import type { PollBody } from '@connector-frame/catalog/types';
import { isEmpty } from '@connector-frame/catalog/validate';
import { isRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import { fill, valueOf, type Values } from './template.js';

interface Part {
  /** Absent: to be omitted. */
  value?: JsonValue;
  /** Whether every value that it refers to exists. */
  complete: boolean;
}

/** Property with the template that an object is omitted without. */
const WHEN = '{{when}}';

/** Fills in the templates of a JSON body. `PollBody` documents the rules. */
export function fillBody(body: PollBody, values: Values): JsonValue {
  return part(body, values).value ?? (Array.isArray(body) ? [] : {});
}

function part(body: PollBody, values: Values): Part {
  if (typeof body === 'string') {
    const [, alone, type] = /^\{\{([^{}|]*)(?:\|(text|number))?\}\}$/.exec(body) ?? [];
    const value = alone === undefined ? fill(body, values) : converted(valueOf(alone, values), type);
    // A template without placeholders may be empty on purpose.
    return value === undefined || (alone !== undefined && isEmpty(value))
      ? { complete: false }
      : { value, complete: true };
  }
  if (isList(body)) {
    const parts = body.map((item) => part(item, values));
    const items = parts.flatMap(({ value, complete }) => (complete && value !== undefined ? [value] : []));
    return body.length > 0 && items.length === 0
      ? { complete: parts.every(({ complete }) => complete) }
      : { value: items, complete: true };
  }
  if (!isRecord(body)) return { value: body, complete: true };
  const { [WHEN]: when, ...rest } = body;
  return when === undefined || part(when, values).complete ? objectPart(rest, values) : { complete: true };
}

function objectPart(body: Readonly<Record<string, PollBody>>, values: Values): Part {
  const properties = Object.entries(body).map(([name, each]) => [name, part(each, values)] as const);
  const present = properties.flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value] as const]));
  const complete = properties.every(([, each]) => each.complete);
  return properties.length > 0 && present.length === 0
    ? { complete }
    : { value: Object.fromEntries(present), complete };
}

/** Converts a text or number to the type that the vendor requires. */
function converted(value: JsonValue | undefined, type: string | undefined): JsonValue | undefined {
  if (type === 'text' && typeof value === 'number') return String(value);
  if (type === 'number' && typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  return value;
}

const isList = (body: PollBody): body is readonly PollBody[] => Array.isArray(body);
