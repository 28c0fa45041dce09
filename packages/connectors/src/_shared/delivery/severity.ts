/** Severities of RFC 5424 and common other names, by how they begin. */
const NAMES: readonly (readonly [start: RegExp, name: string])[] = [
  [/^(?:EMERG|FATAL|PANIC)/, 'EMERGENCY'],
  [/^ALERT/, 'ALERT'],
  [/^CRIT/, 'CRITICAL'],
  [/^ERR/, 'ERROR'],
  [/^WARN/, 'WARNING'],
  [/^NOTICE/, 'NOTICE'],
  [/^INFO/, 'INFO'],
  [/^(?:DEBUG|TRACE|VERBOSE)/, 'DEBUG'],
];
/** Numbers of Google Cloud: 100 is `DEBUG`, 800 is `EMERGENCY`. */
const LEVELS = ['DEBUG', 'INFO', 'NOTICE', 'WARNING', 'ERROR', 'CRITICAL', 'ALERT', 'EMERGENCY'];

/** Returns the name of a severity, from a name or a number of Google Cloud; `undefined` if it is unknown. */
export function severityOf(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const text = String(value).trim().toUpperCase();
  if (/^\d+$/.test(text)) return LEVELS[Math.floor(Number(text) / 100) - 1];
  return NAMES.find(([start]) => start.test(text))?.[1];
}
