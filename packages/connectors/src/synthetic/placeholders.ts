import type { JsonValue } from '@connector-frame/engine/connector-api';
import { formatTime, isNumeric } from '../_shared/poll/times.js';
import type { Random } from './random.js';

/**
 * Returns the value of a placeholder.
 * @param label the placeholder as written; placeholders that are written differently get
 * independent values
 * @param given the numbers after the colons
 */
type Placeholder = (random: Random, label: string, given: readonly number[]) => JsonValue;

/** Fictitious people; the family name is always `Example`. */
const people = [
  'avery',
  'blake',
  'casey',
  'devon',
  'ellis',
  'finley',
  'harper',
  'jordan',
  'kai',
  'logan',
  'morgan',
  'quinn',
];
/** Networks reserved for documentation: RFC 5737. */
const networks = ['192.0.2', '198.51.100', '203.0.113'];
const hosts = ['web', 'db', 'vpn', 'mail', 'build', 'laptop'];
const agents = [
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:142.0) Gecko/20100101 Firefox/142.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1',
  'curl/8.15.0',
];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const pick = (random: Random, list: readonly string[], label: string): string =>
  list[random.below(list.length, label)] ?? '';
const signs = (random: Random, label: string, count: number, alphabet: string): string =>
  Array.from({ length: count }, (_, n) => alphabet[random.below(alphabet.length, `${label}/${n}`)]).join('');
const hex = (random: Random, label: string, count: number): string => signs(random, label, count, '0123456789abcdef');
const person = (random: Random): string => pick(random, people, 'person');
const capital = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
const iso = (random: Random, offset = 0): string => new Date(random.at + (offset || 0) * 1_000).toISOString();

/** Placeholders in shapes. `n`, `from` and `to` are the numbers after the colons. */
export const placeholders: ReadonlyMap<string, Placeholder> = new Map<string, Placeholder>([
  // Increases with each record, from 1.
  ['sequence', (random) => random.number + 1],
  [
    'uuid',
    (random, label) => {
      const digits = hex(random, label, 30);
      return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(12, 15)}-a${digits.slice(15, 18)}-${digits.slice(18)}`;
    },
  ],
  // `n` characters.
  ['hex', (random, label, [n = 8]) => hex(random, label, n)],
  ['letters', (random, label, [n = 8]) => signs(random, label, n, 'abcdefghijklmnopqrstuvwxyz0123456789')],
  ['capitals', (random, label, [n = 8]) => signs(random, label, n, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789')],
  ['digits', (random, label, [n = 8]) => signs(random, label, n, '123456789')],
  // An integer, both bounds inclusive.
  ['int', (random, label, [from = 0, to = 100]) => from + random.below(to - from + 1, label)],
  ['bool', (random, label) => random.below(2, label) === 1],
  ['person.login', person],
  ['person.email', (random) => `${person(random)}@example.com`],
  ['person.name', (random) => `${capital(person(random))} Example`],
  ['person.first', (random) => capital(person(random))],
  ['person.number', (random) => 1_000 + people.indexOf(person(random))],
  ['ip', (random, label) => `${pick(random, networks, label)}.${1 + random.below(254, `${label}/host`)}`],
  ['ipv6', (random, label) => `2001:db8::${hex(random, label, 4)}:${hex(random, `${label}/2`, 4)}`],
  // Range reserved for documentation: RFC 7042, section 2.1.1
  ['mac', (random, label) => `00:00:5e:00:53:${hex(random, label, 2)}`],
  [
    'host',
    (random) => `${pick(random, hosts, 'host')}-${String(1 + random.below(20, 'host/number')).padStart(2, '0')}`,
  ],
  ['agent', (random) => pick(random, agents, 'agent')],
  // The record's time plus an offset in seconds, which may be negative.
  ['time.iso', (random, _label, [offset]) => iso(random, offset)],
  ['time.iso_seconds', (random, _label, [offset]) => iso(random, offset).replace(/\.\d+/, '')],
  ['time.iso_micros', (random, _label, [offset]) => iso(random, offset).replace('Z', '000+00:00')],
  ['time.date', (random, _label, [offset]) => iso(random, offset).slice(0, 10)],
  ['time.seconds', (random, _label, [offset = 0]) => Math.floor(random.at / 1_000) + offset],
  ['time.milliseconds', (random, _label, [offset = 0]) => random.at + offset * 1_000],
  // A format of `poll` definitions, encoded as in a URL.
  ['time.form', (random, label) => timeIn(random.at, decodeURIComponent(label.slice('time.form:'.length)))],
  [
    'time.rfc3164',
    (random) => {
      const time = new Date(random.at);
      return `${months[time.getUTCMonth()] ?? ''} ${String(time.getUTCDate()).padStart(2)} ${time.toISOString().slice(11, 19)}`;
    },
  ],
]);

function timeIn(at: number, form: string): string | number {
  const text = formatTime(at, form);
  return isNumeric(form) && Number.isSafeInteger(Number(text)) ? Number(text) : text;
}
