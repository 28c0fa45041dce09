/** Layouts of the date in object keys, as in the catalog's `storage#/partition`. */
export const LAYOUTS = ['simple date', 'hive compliant', 'flat hive compliant'] as const;
export type Layout = (typeof LAYOUTS)[number];

const shapes: Readonly<Record<Layout, { write(year: string, month: string, day: string): string; pattern: RegExp }>> = {
  'simple date': { write: (year, month, day) => `${year}/${month}/${day}`, pattern: /^\d{4}\/\d{2}\/\d{2}\// },
  'hive compliant': {
    write: (year, month, day) => `year=${year}/month=${month}/day=${day}`,
    pattern: /^year=\d{4}\/month=\d{2}\/day=\d{2}\//,
  },
  'flat hive compliant': {
    write: (year, month, day) => `dt=${year}-${month}-${day}`,
    pattern: /^dt=\d{4}-\d{2}-\d{2}\//,
  },
};

/**
 * Returns the folder of a day in UTC, without a trailing slash. Later days sort after earlier ones.
 */
export function folderOf(layout: Layout, at: number): string {
  const [year = '', month = '', day = ''] = new Date(at).toISOString().slice(0, 10).split('-');
  return shapes[layout].write(year, month, day);
}

/** Returns whether the part of a key after the prefix starts with a day folder. */
export const isInLayout = (layout: Layout, rest: string): boolean => shapes[layout].pattern.test(rest);
