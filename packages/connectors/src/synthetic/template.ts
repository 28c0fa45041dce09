import { type DataRecord, isRecord, type JsonValue, valueAt } from '@connector-frame/engine/connector-api';
import { createDraw, type Draw } from './draw.js';
import { words } from './words.js';

/**
 * Describes the records of a source as data. Strings may contain placeholders in braces, which get
 * a value in each record: `{person.email}`, `{int:1:65535}`, `{time.iso:-60}`; `words.ts` lists
 * them. The same placeholder has the same value throughout a record; number placeholders that
 * should differ: `{uuid#1}`, `{uuid#2}`. A string that is a single placeholder becomes its value,
 * which may be a number or an object.
 */
export interface Shape {
  /** URL of the vendor's documentation of the fields. */
  readonly documentation: string;
  /**
   * Values that vary together. Each record uses one entry of each list: `{event.type}` is the
   * `type` of the chosen entry of `event`.
   */
  readonly choices?: Readonly<Record<string, readonly JsonValue[]>>;
  readonly record: DataRecord;
}

/**
 * Creates the record with a number, from 0, at a time in milliseconds since the epoch.
 * Deterministic.
 */
export type MakeRecord = (number: number, at: number) => DataRecord;

type Make<Value extends JsonValue | undefined = JsonValue> = (draw: Draw) => Value;

/**
 * Compiles a shape to a function that creates records.
 * @throws Error for an unknown placeholder
 */
export function compileShape({ choices = {}, record }: Shape): MakeRecord {
  const lists = new Map(
    Object.entries(choices).map(([name, list]) => [name, list.map((one) => compile(one, new Map()))]),
  );
  const fields = compileFields(record, lists);
  return (number, at) => ({ ...fields(createDraw(number, at)), synthetic: true });
}

type Lists = ReadonlyMap<string, readonly Make[]>;

function compile(value: JsonValue | undefined, lists: Lists): Make {
  if (typeof value === 'string') return compileText(value, lists);
  if (Array.isArray(value)) {
    const items = value.map((item: JsonValue) => compile(item, lists));
    return (draw) => items.map((item) => item(draw));
  }
  if (isRecord(value)) return compileFields(value, lists);
  return () => value ?? null;
}

function compileFields(record: DataRecord, lists: Lists): Make<DataRecord> {
  const fields = Object.entries(record).map(([key, value]) => [key, compile(value, lists)] as const);
  return (draw) => Object.fromEntries(fields.map(([key, field]) => [key, field(draw)]));
}

const WORD = /\{([a-z][\w.]*(?::[^{}#]*)?(?:#\d)?)\}/;

function compileText(text: string, lists: Lists): Make {
  // Alternates between literal text and placeholders.
  const parts = text
    .split(new RegExp(WORD, 'g'))
    .map((part, index) => (index % 2 === 1 ? compileWord(part, lists) : part));
  const [before = '', word, after = ''] = parts;
  if (word === undefined) return () => text;
  if (parts.length === 3 && before === '' && after === '' && typeof word === 'function') return word;
  return (draw) => parts.map((part) => (typeof part === 'function' ? textOf(part(draw)) : part)).join('');
}

const textOf = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));

function compileWord(whole: string, lists: Lists): Make {
  const [, name = '', given = ''] = /^([\w.]+)(?::([^#]*))?/.exec(whole) ?? [];
  const [first = '', ...rest] = name.split('.');
  const list = lists.get(first);
  if (list) {
    return (draw) => {
      const chosen = list[draw.below(list.length, first)]?.(draw) ?? null;
      return rest.length === 0 ? chosen : ((isRecord(chosen) ? valueAt(chosen, rest) : undefined) ?? null);
    };
  }
  const make = words.get(name);
  if (!make) throw new Error(`No word of a shape is called ${name}.`);
  const numbers = given.split(':').map(Number);
  return (draw) => make(draw, whole, numbers);
}
