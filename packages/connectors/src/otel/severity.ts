import type { JsonValue } from '@connector-frame/engine/connector-api';

/**
 * Names of severities and the number of each, with those of syslog.
 * https://opentelemetry.io/docs/specs/otel/logs/data-model/#severity-fields
 */
const NUMBERS: Readonly<Record<string, number>> = {
  trace: 1,
  verbose: 1,
  debug: 5,
  info: 9,
  information: 9,
  informational: 9,
  notice: 10,
  warn: 13,
  warning: 13,
  err: 17,
  error: 17,
  crit: 18,
  critical: 18,
  alert: 19,
  emerg: 21,
  emergency: 21,
  fatal: 21,
  panic: 21,
};

/** Returns the severity number of a record's level: a name such as `INFO` or `ERROR2`, or the number itself. */
export function severityNumberOf(level: JsonValue | undefined): number | undefined {
  if (typeof level === 'number') return Number.isInteger(level) && level >= 1 && level <= 24 ? level : undefined;
  const [, name = '', step = '1'] =
    /^([a-z]+)([1-4])?$/.exec(typeof level === 'string' ? level.toLowerCase() : '') ?? [];
  const number = Object.hasOwn(NUMBERS, name) ? NUMBERS[name] : undefined;
  return number === undefined ? undefined : number + Number(step) - 1;
}
