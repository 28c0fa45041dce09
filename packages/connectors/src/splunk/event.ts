import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { type DataRecord, type JsonValue, parseKeyPath, valueAt } from '@connector-frame/engine/connector-api';
import { invalidConfig } from '../_shared/output/send.js';
import { text } from '../_shared/read.js';

/** Wraps a record, given as JSON and as an object, in the collector's event envelope. */
export type Envelope = (line: string, record: () => DataRecord) => string;

/**
 * Creates an envelope with the index, source and source type of the settings, and with the event
 * time if they name a field for it.
 * https://help.splunk.com/en/splunk-enterprise/get-data-in/collect-http-event-data/format-events-for-http-event-collector
 * @throws ConnectorError
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

/**
 * Numbers from here on are milliseconds. As milliseconds this is the year 1973; as seconds, 5138.
 */
const MILLISECONDS_FROM = 100_000_000_000;

/**
 * Returns seconds since the epoch, from a number in seconds or milliseconds or from a date and
 * time.
 */
function secondsOf(value: JsonValue | undefined): number | undefined {
  const number = typeof value === 'string' && /^\d{9,13}(?:\.\d{1,9})?$/.test(value) ? Number(value) : value;
  if (typeof number === 'number') {
    const seconds = number >= MILLISECONDS_FROM ? number / 1_000 : number;
    return seconds > 0 ? seconds : undefined;
  }
  const parsed = typeof number === 'string' && /^\d{4}-\d\d-\d\d[T ]/.test(number) ? Date.parse(number) : Number.NaN;
  return Number.isNaN(parsed) ? undefined : parsed / 1_000;
}
