/**
 * Composable validators for plain data. Each reports what is wrong and where, in terms that the
 * author of the file understands.
 */
import { isPlain, own } from '../validate/objects.js';
import { joinPointer } from '../validate/pointer.js';
import { oneOf } from './problem.js';

export type Complain = (pointer: string, message: string) => void;
export type Shape = (value: unknown, pointer: string, complain: Complain) => void;

/** @param expected completes "must be ..." */
export const text =
  (pattern: RegExp, expected: string): Shape =>
  (value, pointer, complain) => {
    if (typeof value !== 'string' || !pattern.test(value)) complain(pointer, `must be ${expected}`);
  };

export const word =
  (...words: readonly string[]): Shape =>
  (value, pointer, complain) => {
    if (typeof value !== 'string' || !words.includes(value)) complain(pointer, `must be ${oneOf(words)}`);
  };

export const yes: Shape = (value, pointer, complain) => {
  if (value !== true) complain(pointer, 'must be true, or absent');
};

export const no: Shape = (value, pointer, complain) => {
  if (value !== false) complain(pointer, 'must be false, or absent');
};

export const whole =
  (low: number, high: number): Shape =>
  (value, pointer, complain) => {
    if (!Number.isInteger(value) || Number(value) < low || Number(value) > high)
      complain(pointer, `must be a whole number from ${String(low)} to ${String(high)}`);
  };

export const list =
  (item: Shape): Shape =>
  (value, pointer, complain) => {
    if (!Array.isArray(value) || value.length === 0) return complain(pointer, 'must be a list, with something in it');
    value.forEach((each, index) => item(each, joinPointer(pointer, index), complain));
  };

/** A single item, or a list of items. */
export const some =
  (item: Shape): Shape =>
  (value, pointer, complain) =>
    (Array.isArray(value) ? list(item) : item)(value, pointer, complain);

export const map =
  (item: Shape): Shape =>
  (value, pointer, complain) => {
    if (!isPlain(value)) return complain(pointer, 'must be an object');
    for (const [key, each] of Object.entries(value)) item(each, joinPointer(pointer, key), complain);
  };

/** An object with these keys and no others. Keys in `optional` may be absent. */
export const object =
  (required: Readonly<Record<string, Shape>>, optional: Readonly<Record<string, Shape>> = {}): Shape =>
  (value, pointer, complain) => {
    if (!isPlain(value)) return complain(pointer, 'must be an object');
    const known: Readonly<Record<string, Shape>> = { ...required, ...optional };
    for (const [key, each] of Object.entries(value)) {
      const shape: unknown = own(known, key);
      const at = joinPointer(pointer, key);
      if (typeof shape !== 'function') complain(at, `is not known here: use ${oneOf(Object.keys(known))}`);
      else known[key]?.(each, at, complain);
    }
    for (const key of Object.keys(required))
      if (!Object.hasOwn(value, key)) complain(pointer, `needs ${JSON.stringify(key)}`);
  };

/** Objects discriminated by a key. */
export const kindsBy =
  (key: string, shapes: Readonly<Record<string, Shape>>): Shape =>
  (value, pointer, complain) => {
    const kind: unknown = own(value, key);
    const shape = typeof kind === 'string' && Object.hasOwn(shapes, kind) ? shapes[kind] : undefined;
    if (shape) shape(value, pointer, complain);
    else complain(joinPointer(pointer, key), `must be ${oneOf(Object.keys(shapes))}`);
  };

/** Objects discriminated by `kind`. */
export const kinds = (shapes: Readonly<Record<string, Shape>>): Shape => kindsBy('kind', shapes);
