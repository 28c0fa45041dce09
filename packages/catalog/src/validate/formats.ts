/**
 * String formats. Each check returns undefined for a valid value. Otherwise it returns what was
 * found, as a stable code that a message can build on, or `''` if there is nothing specific to
 * report.
 */
import type { StringFormat } from '../types.js';
import { isPlain } from './objects.js';
import { cronProblem } from './cron.js';

type Problem = string | undefined;

const LABEL = /^[\p{L}\p{N}_](?:[\p{L}\p{N}_-]{0,61}[\p{L}\p{N}_])?$/u;

function parse(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

/** Codes: `url` (a full URL was pasted), `path`, `credentials`, `port`. */
function hostname(value: string): Problem {
  if (value.includes('://')) return 'url';
  if (/[/?#\\]/.test(value)) return 'path';
  if (value.includes('@')) return 'credentials';
  if (/^[^:]*:\d*$|^\[.*\]/.test(value)) return 'port';
  if (value.includes(':')) return parse(`http://[${value}]`) ? undefined : '';
  return value.length <= 253 && value.split('.').every((label) => LABEL.test(label)) ? undefined : '';
}

/** Codes: those of a host name, and `port` for one outside 1 to 65535. */
function hostPort(value: string): Problem {
  const parts = /^(?:\[([^\]]*)\]|([^:]*)):(.*)$/.exec(value);
  if (!parts || value.includes('://')) return hostname(value);
  const [, ipv6, host, port = ''] = parts;
  const problem = hostname(ipv6 ?? host ?? '');
  if (problem !== undefined) return problem;
  if (/[/?#\\]/.test(port)) return 'path';
  return /^\d{1,5}$/.test(port) && Number(port) > 0 && Number(port) < 65_536 ? undefined : 'port';
}

/** Codes: `space`, `no_scheme`, `scheme` (other than http and https), `credentials`. */
function uri(value: string): Problem {
  if (/[\s\\]/.test(value)) return 'space';
  if (!/^[a-z][\w+.-]*:\/\//i.test(value)) return 'no_scheme';
  if (!/^https?:/i.test(value)) return 'scheme';
  const url = parse(value);
  if (!url) return '';
  return url.username || url.password ? 'credentials' : undefined;
}

const email = (value: string): Problem => {
  const [, domain = ''] = /^[^\s@<>(),;:"]{1,64}@([^@]+\.[^@]+)$/.exec(value) ?? [];
  return hostname(domain) === undefined ? undefined : '';
};

/** Codes: `no_time`, `no_zone`. */
function dateTime(value: string): Problem {
  const parts = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d)(?:\.\d{1,9})?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?)?$/i.exec(
    value,
  );
  const [, day = '', time, zone] = parts ?? [];
  const moment = `${day}T${time ?? '00:00:00'}`;
  const date = new Date(`${moment}Z`);
  // Some engines parse February 30 as March 2.
  if (Number.isNaN(date.getTime()) || !date.toISOString().startsWith(moment)) return '';
  if (!time) return 'no_time';
  return zone ? undefined : 'no_zone';
}

/** Codes: `not_object`. */
function json(value: string): Problem {
  try {
    return isPlain(JSON.parse(value)) ? undefined : 'not_object';
  } catch {
    return '';
  }
}

/**
 * Codes: `no_block` (no BEGIN line), `escaped` (line breaks written as `\n`), `cut_off` (no
 * matching END line).
 */
function pem(value: string): Problem {
  const begin = /^-----BEGIN ([A-Z0-9 ]{1,40})-----/.exec(value.trim());
  if (!begin) return 'no_block';
  if (value.includes('\\n')) return 'escaped';
  const body = value.trim().slice(begin[0].length);
  const end = body.indexOf(`-----END ${begin[1] ?? ''}-----`);
  if (end < 0) return 'cut_off';
  return /^\s[\w\s+/=:,.-]+$/.test(body.slice(0, end)) ? undefined : '';
}

const CHECKS: Record<StringFormat, (value: string) => Problem> = {
  uri,
  hostname,
  'host-port': hostPort,
  email,
  'date-time': dateTime,
  cron: cronProblem,
  multiline: () => undefined,
  json,
  pem,
};

/**
 * Checks a string against a format. Returns undefined if it is valid, otherwise the code of what
 * was found, or `''`.
 */
export const formatProblem = (format: StringFormat, value: string): Problem => CHECKS[format](value);
