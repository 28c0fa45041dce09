import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { parseKeyPath, valueAt } from '../../conditions/key-path.js';
import type { DataRecord, JsonValue } from '../../records/record.js';
import { invalidConfig } from '../output/send.js';
import { text } from '../read.js';

/** A record, as its JSON and as an object, in the envelope of the collector. */
export type Envelope = (line: string, record: () => DataRecord) => string;

/**
 * Index, source and source type as the settings say, and the time where they name a field for it.
 * https://help.splunk.com/en/splunk-enterprise/get-data-in/collect-http-event-data/format-events-for-http-event-collector
 * @throws EndError
 */
export function createEnvelope(settings: ConnectorConfig['settings']): Envelope {
  const about: Record<string, string> = {};
  for (const name of ['index', 'source', 'sourcetype']) {
    const value = text(settings, name);
    if (value !== undefined) about[name] = value;
  }
  const fields = JSON.stringify(about).slice(1, -1);
  const before = fields === '' ? '{' : `{${fields},`;
  const field = text(settings, 'time_field');
  const path = field === undefined ? undefined : parseKeyPath(field);
  if (field !== undefined && path === undefined) throw invalidConfig('The time field is no path of keys with dots.');
  return (line, record) => {
    const time = path && secondsOf(valueAt(record(), path));
    return `${before}${time === undefined ? '' : `"time":${time},`}"event":${line}}`;
  };
}

/** Of a time in milliseconds this is the year 1973; of one in seconds, 5138. */
const MILLISECONDS_FROM = 100_000_000_000;

/** Seconds since the epoch, of a number in seconds or milliseconds or of a date with a time. */
function secondsOf(value: JsonValue | undefined): number | undefined {
  const number = typeof value === 'string' && /^\d{9,13}(?:\.\d{1,9})?$/.test(value) ? Number(value) : value;
  if (typeof number === 'number') {
    const seconds = number >= MILLISECONDS_FROM ? number / 1_000 : number;
    return seconds > 0 ? seconds : undefined;
  }
  const parsed = typeof number === 'string' && /^\d{4}-\d\d-\d\d[T ]/.test(number) ? Date.parse(number) : Number.NaN;
  return Number.isNaN(parsed) ? undefined : parsed / 1_000;
}
