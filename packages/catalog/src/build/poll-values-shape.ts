/** Shape of what a `poll` definition takes from settings: see `src/poll-values.ts`. */
import { isPlain } from '../validate/objects.js';
import { joinPointer } from '../validate/pointer.js';
import { path, setting, template } from './poll-primitives.js';
import { map, object, text, whole, word, yes, type Shape } from './shape.js';

const NAME = /^[a-z][a-z0-9_]*$/;
/** A setting, or the name of a value. */
export const source = text(
  /^(?:[a-z][a-z0-9_]*|\/settings\/[^/]+(?:\/[^/]+)*)$/,
  'the pointer of a setting, "/settings/...", or the name of a value',
);

const result: Shape = (value, pointer, complain) => {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return;
  if (!Array.isArray(value)) return template(value, pointer, complain);
  value.forEach((item: unknown, index) => {
    if (!['string', 'number', 'boolean'].includes(typeof item))
      complain(joinPointer(pointer, index), 'must be a text, a number, true or false');
  });
};

const separator = text(/^.{1,3}$/, 'a separator, like ","');
const value = object(
  { field: setting },
  { split: separator, path, first: yes, json: yes, of: map(result), default: result },
);

/** See `PollDefinition.values`. */
export const values: Shape = (found, pointer, complain) => {
  map(value)(found, pointer, complain);
  if (!isPlain(found)) return;
  for (const name of Object.keys(found))
    if (!NAME.test(name))
      complain(joinPointer(pointer, name), 'must have a name of lower-case letters, digits and "_"');
};

export const unit = word('seconds', 'minutes', 'hours', 'days');

const fromSetting =
  (low: number, high: number, optional: Readonly<Record<string, Shape>>): Shape =>
  (found, pointer, complain) => {
    const number = whole(low, high);
    const shape = isPlain(found)
      ? object({ field: setting, default: number }, { minimum: number, maximum: number, ...optional })
      : number;
    shape(found, pointer, complain);
  };

/** See `PollNumber`. */
export const numberFrom = (low: number, high: number): Shape => fromSetting(low, high, {});

/** A number of seconds, which may be a length of time in the setting. */
export const secondsFrom = (low: number, high: number): Shape => fromSetting(low, high, { unit });
