import { describe, expect, it } from 'vitest';
import { seededRandom } from '@connector-frame/engine/testing';
import { parseMessage } from './parse-message.js';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const parse = (text: string) => parseMessage(text, NOW);

describe('RFC 5424', () => {
  it('its own examples', () => {
    expect(
      parse(
        "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - \ufeff'su root' failed for lonvick on /dev/pts/8",
      ),
    ).toEqual({
      priority: 34,
      facility: 4,
      facility_name: 'auth',
      severity: 2,
      severity_name: 'crit',
      timestamp: '2003-10-11T22:14:15.003Z',
      hostname: 'mymachine.example.com',
      app_name: 'su',
      proc_id: undefined,
      msg_id: 'ID47',
      message: "'su root' failed for lonvick on /dev/pts/8",
    });
    expect(parse("<165>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 - - %% It's time.")).toMatchObject({
      timestamp: '2003-08-24T05:14:15.000003-07:00',
      hostname: '192.0.2.1',
      proc_id: '8710',
      message: "%% It's time.",
    });
    const both =
      '<165>1 2003-10-11T22:14:15.003Z mymachine.example.com evntslog - ID47 [exampleSDID@32473 iut="3" eventSource="Application" eventID="1011"][examplePriority@32473 class="high"]';
    const structured_data = {
      'exampleSDID@32473': { iut: '3', eventSource: 'Application', eventID: '1011' },
      'examplePriority@32473': { class: 'high' },
    };
    expect(parse(both)).toMatchObject({ structured_data, message: '' });
    expect(parse(`${both} \ufeffAn event`)).toMatchObject({ structured_data, message: 'An event' });
    expect(parse('<0>1 - - - - - -')).toMatchObject({ priority: 0, severity_name: 'emerg', message: '' });
  });

  it('values that are escaped, repeated, or named like something of JavaScript', () => {
    const text = String.raw`<13>1 - - - - - [a p="x\"y\\z\]" p="\n"][__proto__ k="1"] m`;
    expect(JSON.stringify(parse(text)['structured_data'])).toBe(
      String.raw`{"a":{"p":["x\"y\\z]","\\n"]},"__proto__":{"k":"1"}}`,
    );
  });

  it.each([
    ['<13>1 yesterday host app - - - text', 'timestamp', '1 yesterday host app - - - text'],
    ['<13>1 2003-13-41T22:14:15Z host app - - - text', 'timestamp', undefined],
    ['<13>1 2003-10-11T22:14:15Z host', 'hostname', 'host'],
    ['<13>1 - host app - - [a b="c text', 'structured_data', '[a b="c text'],
    ['<13>1 - host app - - text', 'structured_data', 'text'],
  ])('%s is kept, with what is wrong', (text, problem, message) => {
    expect(parse(text)).toMatchObject({ parse_error: problem, ...(message !== undefined && { message }) });
  });
});

describe('RFC 3164', () => {
  it.each([
    [
      "<34>Oct 11 22:14:15 mymachine su: 'su root' failed",
      '2025-10-11T22:14:15.000Z',
      'mymachine',
      'su',
      undefined,
      "'su root' failed",
    ],
    ['<13>Feb  5 17:32:18 10.0.0.99 app[42]: text', '2026-02-05T17:32:18.000Z', '10.0.0.99', 'app', '42', 'text'],
    ['<13>Mar  2 00:00:00 host app: ahead', '2026-03-02T00:00:00.000Z', 'host', 'app', undefined, 'ahead'],
    ['<13>Oct 11 2024 22:14:15 host app: year', '2024-10-11T22:14:15.000Z', 'host', 'app', undefined, 'year'],
    ['<13>Oct 11 22:14:15 2024 host app: year', '2024-10-11T22:14:15.000Z', 'host', 'app', undefined, 'year'],
    ['<13>Oct 11 2024 22:14:15 EST host app: zone', '2024-10-12T03:14:15.000Z', 'host', 'app', undefined, 'zone'],
    [
      '<189>29: *Oct 11 2024 22:14:15.123 UTC: %SYS-5-CONFIG_I: text',
      '2024-10-11T22:14:15.123Z',
      undefined,
      '%SYS-5-CONFIG_I',
      undefined,
      'text',
    ],
    ['<30>2024-10-11T22:14:15.5+02:00 host app[1]: iso', '2024-10-11T22:14:15.5+02:00', 'host', 'app', '1', 'iso'],
    ['<13>Oct 11 2024 22:14:15 app[7]: no host', '2024-10-11T22:14:15.000Z', undefined, 'app', '7', 'no host'],
    [
      '<13>Oct 11 2024 22:14:15 2001:db8::7 app: six',
      '2024-10-11T22:14:15.000Z',
      '2001:db8::7',
      'app',
      undefined,
      'six',
    ],
    ['<13>Oct 11 2024 22:14:15 host just text', '2024-10-11T22:14:15.000Z', 'host', undefined, undefined, 'just text'],
  ])('%s', (text, timestamp, hostname, app, pid, message) => {
    const record = parse(text);
    expect(record).toMatchObject({ timestamp, message });
    expect([record['hostname'], record['app_name'], record['proc_id']]).toEqual([hostname, app, pid]);
    expect(record['parse_error']).toBeUndefined();
  });

  it('says what it took the time from, where something was assumed', () => {
    expect(parse('<13>Dec 31 23:59:59 host app: x')).toMatchObject({
      timestamp: '2025-12-31T23:59:59.000Z',
      timestamp_text: 'Dec 31 23:59:59',
    });
  });

  it.each([
    ['Oct 11 22:14:15 host app: text', 'no_priority', 13, 'text'],
    ['<999>text', 'no_priority', 13, '<999>text'],
    ['<13>just text', 'timestamp', 13, 'just text'],
    ['', 'no_priority', 13, ''],
    ['<13>', 'timestamp', 13, ''],
    ['{"json":true}', 'no_priority', 13, '{"json":true}'],
  ])('%s is kept, with what is wrong', (text, problem, priority, message) => {
    expect(parse(text)).toMatchObject({ parse_error: problem, priority, message });
  });
});

it('takes any text, quickly, and loses none of it', () => {
  const random = seededRandom(5);
  const pieces = [
    '<34>',
    '1 ',
    '- ',
    'Oct 11 22:14:15 ',
    '[a b="c"]',
    '[',
    '"',
    '\\',
    '=',
    ' ',
    ':',
    'é',
    '\0',
    '\ufeff',
    'x',
  ];
  for (let round = 0; round < 20_000; round += 1) {
    const text = Array.from(
      { length: Math.floor(random() * 20) },
      () => pieces[Math.floor(random() * pieces.length)],
    ).join('');
    expect(JSON.parse(JSON.stringify(parse(`${text}END`))).message).toMatch(/END$|^$/);
  }
  const began = performance.now();
  for (const text of [
    '<13>1 - - - - - [a' + ' b="c"'.repeat(10_000),
    `<13>${' '.repeat(65_000)}`,
    `<13>1 ${'- '.repeat(30_000)}`,
    `<13>1 - - - - - ${'[a]'.repeat(20_000)}x`,
  ])
    parse(text);
  expect(performance.now() - began).toBeLessThan(2_000);
});
