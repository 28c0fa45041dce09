/**
 * A message with placeholders, or its plural forms: by exact count (`1`), by category of
 * `Intl.PluralRules`, or `other`.
 */
export type Template = string | Readonly<Record<string, string>>;

type Value = string | number | undefined;

const pad = (number: number): string => `${number}`.padStart(2, '0');

/** Formats a time of day as `06:30`, the same in every supported language. */
export const clock = (hour: number, minute: number): string => `${pad(hour)}:${pad(minute)}`;

/**
 * Returns a function that fills the placeholders of a template, formatted for a locale:
 *
 * - `{0}`: the first value
 * - `{0:day}`: a short date (`12 Nov 2026`)
 * - `{0:moment}`: a date and time in UTC
 * - `{0:number}`: a number
 * - `{0:duration}`: a duration, given in milliseconds
 * - `{0|text}`: `text` if the value is missing; a blank `text` is inserted before a value that is
 *   present
 */
export function createFormat(locale: string): (template: Template, ...values: Value[]) => string {
  const plural = new Intl.PluralRules(locale);
  const date = (value: Value, style: Intl.DateTimeFormatOptions): string => {
    const moment = new Date(value ?? NaN);
    return Number.isNaN(moment.getTime()) ? '' : new Intl.DateTimeFormat(locale, style).format(moment);
  };
  const kinds: Readonly<Record<string, (value: Value) => string>> = {
    day: (value) => date(value, { dateStyle: 'medium' }),
    moment: (value) => date(value, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' }),
    // As the user would type it: without thousands separators. An integer is the same in every
    // supported language, and the first `Intl.NumberFormat` of a page takes milliseconds.
    number: (value) =>
      Number(value) % 1 ? new Intl.NumberFormat(locale, { useGrouping: false }).format(Number(value)) : `${value}`,
    duration: (value) => {
      const ms = Math.round(Number(value));
      return ms < 1000 ? `${ms} ms` : `${kinds['number']?.(Math.round(ms / 100) / 10)} s`;
    },
  };

  return (template, ...values) => {
    const count = values.find((value) => typeof value === 'number') ?? NaN;
    const text =
      typeof template === 'string'
        ? template
        : (template[count] ?? template[plural.select(count)] ?? template['other']);
    return (text ?? '').replaceAll(/\{(\d)(?::(\w+)|\|([^}]*))?\}/g, (_, index, kind, spare) => {
      // An empty string counts as a missing value.
      const value = values[index] === '' ? undefined : values[index];
      if (spare?.trim() === '') return value === undefined ? '' : spare + value;
      return String((kind && kinds[kind]?.(value)) ?? value ?? spare ?? '');
    });
  };
}
