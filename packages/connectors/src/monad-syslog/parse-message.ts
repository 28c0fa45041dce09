import type { DataRecord, JsonValue } from '@connector-frame/engine/connector-api';
import { structuredDataAt } from './structured-data.js';
import { bsdAt, rfc3339At } from './timestamps.js';

// RFC 5424, section 6.2.1; the names are from syslog.h.
const FACILITIES =
  'kern user mail daemon auth syslog lpr news uucp cron authpriv ftp ntp audit alert clock local0 local1 local2 local3 local4 local5 local6 local7'.split(
    ' ',
  );
const SEVERITIES = 'emerg alert crit err warning notice info debug'.split(' ');
/** Default for a message without a priority: user.notice. RFC 3164, section 4.3.3. */
const NO_PRIORITY = 13;

type Fields = Record<string, JsonValue | undefined>;

/**
 * Parses a message of RFC 5424 or RFC 3164 into a record. An invalid message is kept: `parse_error`
 * names the part that could not be parsed, and `message` holds the text.
 *
 * @param now milliseconds since the epoch, for timestamps that lack a year
 */
export function parseMessage(text: string, now: number): DataRecord {
  const [start, digits] = /^<(\d{1,3})>/.exec(text) ?? [];
  const given = digits === undefined || Number(digits) > 191 ? undefined : Number(digits);
  const rest = given === undefined ? text : text.slice(start?.length);
  const fields = rest.startsWith('1 ') && given !== undefined ? rfc5424(rest) : rfc3164(rest, now);
  const known = given ?? NO_PRIORITY;
  return {
    priority: known,
    facility: known >> 3,
    facility_name: FACILITIES[known >> 3],
    severity: known & 7,
    severity_name: SEVERITIES[known & 7],
    ...fields,
    ...(given === undefined && { parse_error: 'no_priority' }),
  };
}

const NAMES = ['hostname', 'app_name', 'proc_id', 'msg_id'] as const;

/**
 * Parses `1 TIMESTAMP HOSTNAME APP-NAME PROCID MSGID STRUCTURED-DATA [MSG]`; `-` means no value.
 */
function rfc5424(text: string): Fields {
  const fields: Fields = {};
  const timeEnd = text.indexOf(' ', 2);
  const written = text.slice(2, timeEnd);
  const time = rfc3339At(written);
  if (timeEnd < 0 || (written !== '-' && time?.length !== written.length))
    return { message: text, parse_error: 'timestamp' };
  fields['timestamp'] = time?.time;
  let at = timeEnd + 1;
  for (const name of NAMES) {
    const end = text.indexOf(' ', at);
    if (end < 0) return { ...fields, message: text.slice(at), parse_error: name };
    const value = text.slice(at, end);
    fields[name] = value === '-' ? undefined : value;
    at = end + 1;
  }
  if (text[at] === '-') at += 1;
  else {
    const data = structuredDataAt(text, at);
    if (!data) return { ...fields, message: text.slice(at), parse_error: 'structured_data' };
    fields['structured_data'] = data.elements;
    at = data.end;
  }
  if (at < text.length && text[at] !== ' ')
    return { ...fields, message: text.slice(at), parse_error: 'structured_data' };
  return { ...fields, message: text.slice(at + 1).replace(/^\ufeff/, '') };
}

/** Parses `TIMESTAMP HOSTNAME TAG[PID]: CONTENT`; devices omit arbitrary parts. */
function rfc3164(text: string, now: number): Fields {
  // Some devices put a sequence number first.
  const skipped = /^\d{1,10}: /.exec(text)?.[0].length ?? 0;
  const dated = text.slice(skipped);
  const time = rfc3339At(dated) ?? bsdAt(dated, now);
  if (!time) return { message: text.replace(/^\ufeff/, ''), parse_error: 'timestamp' };
  const fields: Fields = { timestamp: time.time, ...(time.text !== undefined && { timestamp_text: time.text }) };
  let rest = dated.slice(time.length).replace(/^:? ?/, '');
  const [host, name] = /^([^\s:[\]%]{1,255}) /.exec(rest) ?? [];
  if (host !== undefined) {
    fields['hostname'] = name;
    rest = rest.slice(host.length);
  } else {
    // An IPv6 address contains colons, as does the end of a tag.
    const [address, literal] = /^([0-9A-Fa-f:.]{2,45}) /.exec(rest) ?? [];
    if (literal?.includes('::') === true || (literal?.split(':').length ?? 0) === 8) {
      fields['hostname'] = literal;
      rest = rest.slice(address?.length);
    }
  }
  const [tag, app, pid] = /^([^\s:[\]]{1,128})(?:\[([^\]\s]{0,128})\])?: ?/.exec(rest) ?? [];
  if (tag !== undefined) {
    fields['app_name'] = app;
    if (pid !== undefined && pid !== '') fields['proc_id'] = pid;
    rest = rest.slice(tag.length);
  }
  return { ...fields, message: rest };
}
