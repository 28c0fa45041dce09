import type { DataRecord } from '@connector-frame/engine/connector-api';
import { FORMATS, type Format, type FormatOptions } from '../formats/index.js';
import { invalidConfig } from '../output/send.js';
import { text, texts } from '../read.js';
import type { Compression } from '../unpack.js';
import { readLayout, type Layout } from './layout.js';

/** Parsed settings of an input. */
export interface InputSettings extends FormatOptions {
  prefix: string;
  compression: Compression;
  layout: Layout | undefined;
  /** Returns whether to read an object, by its full key. */
  matches: (key: string) => boolean;
  /** Returns the format of an object, by its full key. Absent: all have `format`. */
  formatOf?: (key: string) => Format;
  /** Returns whether to deliver a record of an object that grows. Absent: all. */
  accepts?: (record: DataRecord) => boolean;
  /**
   * Skips objects older than this, in milliseconds since the epoch. Absent: the time of the first
   * listing.
   */
  since: number | undefined;
}

const COMPRESSIONS = ['auto', 'gzip', 'none'] as const;

/**
 * Parses the settings.
 * @throws ConnectorError `invalid_config`, permanent
 */
export function readInputSettings(settings: Record<string, unknown>): InputSettings {
  const start = text(settings, 'backfill_start_time');
  const since = start === undefined ? undefined : Date.parse(start);
  if (Number.isNaN(since)) throw invalidConfig('The start time is not a valid date and time.');
  return {
    prefix: text(settings, 'prefix') ?? '',
    format: oneOf(FORMATS, text(settings, 'format'), 'jsonl', 'This file format is not supported.'),
    columns: texts(settings, 'schema'),
    location: text(settings, 'record_location'),
    compression: oneOf(COMPRESSIONS, text(settings, 'compression'), 'auto', 'This compression is not supported.'),
    layout: readLayout(settings),
    matches: readFilter(settings),
    since,
  };
}

/**
 * Returns `given` if it is one of `values`, or `fallback` if it is absent.
 * @throws ConnectorError for another value
 */
function oneOf<T extends string | undefined>(
  values: readonly T[],
  given: string | undefined,
  fallback: T,
  message: string,
): T {
  if (given === undefined) return fallback;
  const found = values.find((value) => value === given);
  if (found === undefined) throw invalidConfig(message);
  return found;
}

function readFilter(settings: Record<string, unknown>): (key: string) => boolean {
  const value = text(settings, 'key_filter', 'filter', 'value');
  if (text(settings, 'key_filter', 'type') !== 'filter' || value === undefined) return () => true;
  const included = text(settings, 'key_filter', 'filter', 'mode') !== 'exclude';
  const operator = text(settings, 'key_filter', 'filter', 'operator');
  return (key) => {
    if (operator === 'contains') return key.includes(value) === included;
    if (operator === 'starts_with') return key.startsWith(value) === included;
    return key.endsWith(value) === included;
  };
}
