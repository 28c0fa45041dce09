/** Minimum and maximum of the five fields, and the names that two of them accept. */
const FIELDS: readonly (readonly [low: number, high: number, names?: string])[] = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12, 'jan feb mar apr may jun jul aug sep oct nov dec'],
  [0, 7, 'sun mon tue wed thu fri sat'],
];

function fieldIsGood(field: string, [low, high, names]: (typeof FIELDS)[number]): boolean {
  const toNumber = (text: string): number => {
    if (/^\d{1,2}$/.test(text)) return Number(text);
    const at = names?.split(' ').indexOf(text.toLowerCase()) ?? -1;
    return at < 0 ? Number.NaN : at + low;
  };
  return field.split(',').every((part) => {
    const [range = '', step, ...more] = part.split('/');
    if (
      more.length > 0 ||
      (step !== undefined && !(/^\d{1,2}$/.test(step) && Number(step) > 0 && Number(step) <= high))
    )
      return false;
    if (range === '*') return true;
    const ends = range.split('-').map(toNumber);
    const [from = Number.NaN, to = from] = ends;
    return ends.length < 3 && from >= low && from <= to && to <= high;
  });
}

/**
 * Checks a schedule of five fields. Returns undefined if it is valid, `fields` if there are not
 * five, or the first invalid field: `field_1` to `field_5`.
 */
export function cronProblem(value: string): string | undefined {
  const fields = value.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) return 'fields';
  const wrong = FIELDS.findIndex((field, index) => !fieldIsGood(fields[index] ?? '', field));
  return wrong < 0 ? undefined : `field_${String(wrong + 1)}`;
}
