import { invalidConfig } from '../output/send.js';
import { text } from '../read.js';

/** How the date is written at the beginning of object keys, after the prefix. */
export interface Layout {
  /** Returns the folder of a day, without a trailing slash. */
  write(year: string, month: string, day: string): string;
  /** Matches what begins with a day folder. */
  pattern: RegExp;
}

/** Layouts by their names in the catalog's `storage#/partition`. */
const layouts: ReadonlyMap<string, Layout> = new Map([
  ['simple date', { write: (year, month, day) => `${year}/${month}/${day}`, pattern: /^\d{4}\/\d{2}\/\d{2}\// }],
  [
    'hive compliant',
    {
      write: (year, month, day) => `year=${year}/month=${month}/day=${day}`,
      pattern: /^year=\d{4}\/month=\d{2}\/day=\d{2}\//,
    },
  ],
  [
    'flat hive compliant',
    { write: (year, month, day) => `dt=${year}-${month}-${day}`, pattern: /^dt=\d{4}-\d{2}-\d{2}\// },
  ],
]);

/**
 * Returns the layout that the settings name. `custom` is the one of `partition_format_template`, or
 * none.
 * @throws ConnectorError `invalid_config`, permanent
 */
export function readLayout(settings: Record<string, unknown>): Layout | undefined {
  const name = text(settings, 'partition_format');
  if (name === undefined) return undefined;
  if (name === 'custom') return ofTemplate(text(settings, 'partition_format_template') ?? '');
  const layout = layouts.get(name);
  if (!layout) throw invalidConfig('This folder layout is not supported.');
  return layout;
}

/** Reads `y={year}/m={month}/d={day}/h={hour}` up to the folder of the day. */
function ofTemplate(template: string): Layout | undefined {
  const segments = template.split('/');
  const ofDay = segments.findIndex((segment) => segment.includes('{day}'));
  const folder = segments.slice(0, ofDay + 1).join('/');
  if (!['{year}', '{month}', '{day}'].every((part) => folder.includes(part)) || folder.includes('{hour}'))
    return undefined;
  const write = (year: string, month: string, day: string): string =>
    folder.replaceAll('{year}', year).replaceAll('{month}', month).replaceAll('{day}', day);
  const escaped = folder.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`);
  const pattern = escaped.replaceAll('{year}', '\\d{4}').replaceAll(/\{(?:month|day)\}/g, '\\d{2}');
  return { write, pattern: new RegExp(`^${pattern}/`) };
}

/**
 * Returns the folder of a day in UTC, without a trailing slash. Later days sort after earlier ones,
 * except with a template that says otherwise.
 */
export function folderOf(layout: Layout, at: number): string {
  const [year = '', month = '', day = ''] = new Date(at).toISOString().slice(0, 10).split('-');
  return layout.write(year, month, day);
}

/** Returns whether the part of a key after the prefix starts with a day folder. */
export const isInLayout = (layout: Layout, rest: string): boolean => layout.pattern.test(rest);
