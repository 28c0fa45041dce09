import type { Issue } from '@connector-frame/catalog/types';
import type { Field } from '../model/field.js';
import type { createFormat, Template } from './format.js';

/** The properties of a field that its error messages use. */
export interface Subject {
  label: string;
  /** Kind of the control; `key` and `value` are the cells of a map's row. */
  kind: Field['kind'] | 'key' | 'value';
  /** Set if a stored secret must be entered again or is being replaced. */
  secret?: 'reentry' | 'replacing';
  minimum?: number;
  maximum?: number;
  integer?: boolean;
  unit?: string;
  placeholder?: string;
}

export interface IssueMessages {
  /**
   * Templates by issue code, optionally followed by details (`code/detail`). The most specific key
   * is used.
   */
  issues: Readonly<Record<string, Template>>;
  /** Whether the first letter of a label is lowercased inside a sentence. */
  lowerLabels: boolean;
}

/**
 * Lowercases the first letter of a label (`Organization URL` -> `organization URL`), except in
 * acronyms (`API token`) and the given names.
 */
const lower = (label: string, names: readonly string[]): string =>
  /^\p{Lu}\p{Ll}*(?!\p{L})/u.test(label) && !names.some((name) => label.startsWith(name))
    ? label.charAt(0).toLowerCase() + label.slice(1)
    : label;

/**
 * Returns a sentence that tells the user how to fix an issue, with the field's label. A message in
 * the issue itself takes precedence.
 *
 * @param names words that keep their capital letter inside a sentence
 */
export function issueSentence(
  { code, message, params = {} }: Issue,
  subject: Subject,
  names: readonly string[],
  { issues, lowerLabels }: IssueMessages,
  format: ReturnType<typeof createFormat>,
): string {
  if (message) return message;
  const { label, kind, secret, minimum, maximum, integer, unit, placeholder } = subject;
  const it = lowerLabels ? lower(label, names) : label;
  const say = (keys: string[], ...values: (string | number | undefined)[]): string =>
    format(keys.map((key) => issues[key]).find((template) => template !== undefined) ?? '', ...values);

  if (kind === 'number' && code !== 'required' && code !== 'unknown_property') {
    const bound =
      minimum === undefined ? maximum !== undefined && 'maximum' : maximum === undefined ? 'minimum' : 'between';
    const whole = code === 'type' && integer;
    return say([(!whole && bound) || (integer ? 'integer' : 'number')], minimum, maximum, unit);
  }
  const { minLength, maxLength, minItems, maxItems, found } = params;
  const detail =
    code === 'format'
      ? `${params['format']}/${found}`
      : code === 'pattern' && placeholder
        ? 'example'
        : (secret ?? kind);
  const exact = `${code}/${detail}`;
  const bound = minLength ?? maxLength ?? minItems ?? maxItems ?? placeholder;
  return say([exact, exact.slice(0, exact.lastIndexOf('/')), code, 'unknown'], it, bound);
}
