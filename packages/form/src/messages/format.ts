/** A sentence with places for values, or the forms of one by number: `1`, or a category of `Intl.PluralRules`, or `other`. */
export type Template = string | Readonly<Record<string, string>>;

type Value = string | number | undefined;

const pad = (number: number): string => `${number}`.padStart(2, '0');

/** A time of day as every language here writes it: `06:30`. */
export const clock = (hour: number, minute: number): string => `${pad(hour)}:${pad(minute)}`;

/**
 * Says values in the way of a locale. A place is `{0}`, the first value; `{0:day}` a date in short (`12 Nov 2026`), `{0:moment}` a date
 * and time in UTC, `{0:number}` and `{0:duration}` (of milliseconds) what they say; `{0|text}` has a text for a value that is not there,
 * and a blank one stands before a value that is.
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
    // As one would type it: without signs between thousands.
    number: (value) => new Intl.NumberFormat(locale, { useGrouping: false }).format(Number(value)),
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
      // A blank text says nothing.
      const value = values[index] === '' ? undefined : values[index];
      if (spare?.trim() === '') return value === undefined ? '' : spare + value;
      return String((kind && kinds[kind]?.(value)) ?? value ?? spare ?? '');
    });
  };
}
