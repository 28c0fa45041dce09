const ISO = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)$/;

/**
 * Converts an ISO 8601 time with a zone to UTC without one, for columns that have none. Leaves other
 * texts to the server.
 *
 * @param separator between date and time
 * @param digits maximum number of digits of a fraction of a second
 */
export function toUtc(time: string, separator: ' ' | 'T', digits: number): string {
  const [, day, clock, zone] = ISO.exec(time) ?? [];
  if (day === undefined || clock === undefined || zone === undefined) return time;
  const [whole = clock, fraction] = clock.split('.');
  const at = Date.parse(`${day}T${whole}${zone.replace(/^(...)(\d\d)$/, '$1:$2')}`);
  if (Number.isNaN(at)) return time;
  const utc = new Date(at).toISOString().slice(0, 19).replace('T', separator);
  return fraction === undefined ? utc : `${utc}.${fraction.slice(0, digits)}`;
}
