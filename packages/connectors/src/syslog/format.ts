/** What a line says besides the record. */
export interface LineContext {
  /** Milliseconds since the epoch. */
  now: number;
  /** The program that the receiver shows. */
  program: string;
}

export type SyslogFormat = 'rfc5424' | 'rfc3164' | 'cef' | 'raw';

/** Facility `user`, severity `informational`. */
const PRIORITY = '<14>';
/** Receivers of RFC 3164 take the next word for the tag if there is no host. */
const HOST = 'connector-frame';
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Returns a record's JSON as a syslog message without its framing. */
export function formatLine(format: SyslogFormat, json: string, { now, program }: LineContext): string {
  switch (format) {
    case 'rfc5424':
      return `${PRIORITY}1 ${new Date(now).toISOString()} ${HOST} ${program} - - - ${json}`;
    case 'rfc3164':
      return `${PRIORITY}${bsdTime(now)} ${HOST} ${program}: ${json}`;
    case 'cef':
      return `${PRIORITY}${bsdTime(now)} ${HOST} CEF:0|Connector Frame|${program}|1|record|Record|3|msg=${escapeCef(json)}`;
    default:
      return json;
  }
}

/** RFC 3164, section 4.1.2: no year and no zone, the day padded with a space. */
function bsdTime(now: number): string {
  const date = new Date(now);
  const day = String(date.getUTCDate()).padStart(2, ' ');
  return `${MONTHS[date.getUTCMonth()] ?? ''} ${day} ${date.toISOString().slice(11, 19)}`;
}

/** In an extension of CEF, backslashes and equals signs are escaped. A JSON line has no line breaks. */
const escapeCef = (text: string): string => text.replaceAll(/[\\=]/g, (character) => `\\${character}`);

/**
 * Separates a message from the next one: by its length in bytes, or by a line break.
 * https://datatracker.ietf.org/doc/html/rfc6587#section-3.4
 */
export const frame = (message: string, countsOctets: boolean): string =>
  countsOctets ? `${Buffer.byteLength(message)} ${message}` : `${message}\n`;
