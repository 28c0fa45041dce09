import type { JsonValue } from '@connector-frame/engine/connector-api';
import type { Draw } from './draw.js';

/**
 * Returns the value of a placeholder.
 * @param label the placeholder as written; placeholders that are written differently get
 * independent values
 * @param given the numbers after the colons
 */
type Word = (draw: Draw, label: string, given: readonly number[]) => JsonValue;

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

const pick = (draw: Draw, list: readonly string[], label: string): string => list[draw.below(list.length, label)] ?? '';
const signs = (draw: Draw, label: string, count: number, alphabet: string): string =>
  Array.from({ length: count }, (_, n) => alphabet[draw.below(alphabet.length, `${label}/${n}`)]).join('');
const hex = (draw: Draw, label: string, count: number): string => signs(draw, label, count, '0123456789abcdef');
const person = (draw: Draw): string => pick(draw, people, 'person');
const capital = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
const iso = (draw: Draw, offset = 0): string => new Date(draw.at + (offset || 0) * 1_000).toISOString();

/** Placeholders in shapes. `n`, `from` and `to` are the numbers after the colons. */
export const words: ReadonlyMap<string, Word> = new Map<string, Word>([
  // Increases with each record, from 1.
  ['sequence', (draw) => draw.number + 1],
  [
    'uuid',
    (draw, label) => {
      const digits = hex(draw, label, 30);
      return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(12, 15)}-a${digits.slice(15, 18)}-${digits.slice(18)}`;
    },
  ],
  // `n` characters.
  ['hex', (draw, label, [n = 8]) => hex(draw, label, n)],
  ['letters', (draw, label, [n = 8]) => signs(draw, label, n, 'abcdefghijklmnopqrstuvwxyz0123456789')],
  ['capitals', (draw, label, [n = 8]) => signs(draw, label, n, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789')],
  ['digits', (draw, label, [n = 8]) => signs(draw, label, n, '123456789')],
  // An integer, both bounds inclusive.
  ['int', (draw, label, [from = 0, to = 100]) => from + draw.below(to - from + 1, label)],
  ['bool', (draw, label) => draw.below(2, label) === 1],
  ['person.login', person],
  ['person.email', (draw) => `${person(draw)}@example.com`],
  ['person.name', (draw) => `${capital(person(draw))} Example`],
  ['person.first', (draw) => capital(person(draw))],
  ['person.number', (draw) => 1_000 + people.indexOf(person(draw))],
  ['ip', (draw, label) => `${pick(draw, networks, label)}.${1 + draw.below(254, `${label}/host`)}`],
  ['ipv6', (draw, label) => `2001:db8::${hex(draw, label, 4)}:${hex(draw, `${label}/2`, 4)}`],
  // Range reserved for documentation: RFC 7042, section 2.1.1
  ['mac', (draw, label) => `00:00:5e:00:53:${hex(draw, label, 2)}`],
  ['host', (draw) => `${pick(draw, hosts, 'host')}-${String(1 + draw.below(20, 'host/number')).padStart(2, '0')}`],
  ['agent', (draw) => pick(draw, agents, 'agent')],
  // The record's time plus an offset in seconds, which may be negative.
  ['time.iso', (draw, _label, [offset]) => iso(draw, offset)],
  ['time.iso_seconds', (draw, _label, [offset]) => iso(draw, offset).replace(/\.\d+/, '')],
  ['time.iso_micros', (draw, _label, [offset]) => iso(draw, offset).replace('Z', '000+00:00')],
  ['time.date', (draw, _label, [offset]) => iso(draw, offset).slice(0, 10)],
  ['time.seconds', (draw, _label, [offset = 0]) => Math.floor(draw.at / 1_000) + offset],
  ['time.milliseconds', (draw, _label, [offset = 0]) => draw.at + offset * 1_000],
  [
    'time.rfc3164',
    (draw) => {
      const time = new Date(draw.at);
      return `${months[time.getUTCMonth()] ?? ''} ${String(time.getUTCDate()).padStart(2)} ${time.toISOString().slice(11, 19)}`;
    },
  ],
]);
