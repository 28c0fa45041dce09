/**
 * Returns the name of a file: the prefix with its date, then the key. The date is that in the key, so
 * that a retry on the next day replaces the same file.
 *
 * @param now for a key without a time, in milliseconds since the epoch
 */
export function fileNameOf(prefix: string, key: string, now: number): string {
  const [, year = '', month = '', day = '', hour = '', minute = '', second = ''] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-/.exec(key) ??
    /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)/.exec(new Date(now).toISOString()) ??
    [];
  const values: Readonly<Record<string, string>> = {
    Y: year,
    y: year.slice(2),
    m: month,
    d: day,
    H: hour,
    M: minute,
    S: second,
    F: `${year}-${month}-${day}`,
    '%': '%',
  };
  return prefix.replaceAll(/%([YymdHMSF%])/g, (_whole, name: string) => values[name] ?? '') + key;
}
