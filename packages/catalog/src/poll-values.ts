/** What a `poll` definition takes from settings besides texts in templates. */
import type { PollField, PollPath, PollTemplate } from './poll-request.js';

/** What the value of a setting becomes. A text is a template of settings. `null`: no value. */
export type PollResult = PollTemplate | number | boolean | null | readonly (string | number | boolean)[];

/**
 * A value that is computed from a setting, under the name of its placeholder. It is a text, a number,
 * `true` or `false`, or a list, and is sent like a setting of that type.
 */
export interface PollValue {
  field: PollField;
  /** Separator in a text that contains a list. Items are trimmed. */
  split?: string;
  /** Of a list of objects: the value at this path of each. */
  path?: PollPath;
  /** The first item of the list alone. */
  first?: true;
  /** A text that contains JSON. */
  json?: true;
  /**
   * What each value of the setting becomes, by its text: `true` and `false` for a switch. Each item of
   * a list is looked up, and a list in its place adds all its items. `*` is any other value; without
   * it, others stay as they are.
   */
  of?: Readonly<Record<string, PollResult>>;
  /** If the setting is empty. */
  default?: PollResult;
}

/** Length of time that a setting contains: a number in `unit`, or a text such as `24h` or `1h30m`. */
export interface PollDuration {
  /** Unit of a number. A text may state its own: `s`, `m`, `h`, `d` or `w`. */
  unit?: 'seconds' | 'minutes' | 'hours' | 'days';
}

/**
 * A number, or one that a setting contains: moved to the nearest of `minimum` and `maximum`, and
 * `default` if the setting is empty.
 */
export type PollNumber =
  | number
  | ({ field: PollField; default: number; minimum?: number; maximum?: number } & PollDuration);
