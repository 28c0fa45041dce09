import type { Format } from '../formats/index.js';
import type { InputSettings } from './input-settings.js';

/** Formats by the ending of a file's name, without that of its compression. */
const FORMATS: ReadonlyMap<string, Format> = new Map([
  ['csv', 'csv'],
  ['tsv', 'delimited'],
  ['json', 'json'],
  ['jsonl', 'jsonl'],
  ['ndjson', 'jsonl'],
  ['log', 'text'],
  ['txt', 'text'],
]);

const formatOf = (key: string): Format | undefined =>
  FORMATS.get(/\.([a-z]+)(?:\.gz)?$/.exec(key.toLowerCase())?.[1] ?? '');

/**
 * Returns settings for folders that people keep files in: the format is that of a file's name, other
 * files are left out, and files that exist are read as well.
 */
export const fileSettings: InputSettings = {
  prefix: '',
  format: 'text',
  columns: [],
  location: undefined,
  compression: 'auto',
  layout: undefined,
  matches: (key) => formatOf(key) !== undefined,
  formatOf: (key) => formatOf(key) ?? 'text',
  since: 0,
};
