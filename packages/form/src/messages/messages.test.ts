import { describe, expect, it } from 'vitest';
import en from './en.json' with { type: 'json' };
import { createMessages } from './index.js';
import type { Subject } from './issue-sentence.js';

const messages = createMessages(en);

describe('createMessages', () => {
  it('fills in the values of a message', () => {
    expect(messages.save).toBe('Save');
    expect(messages.row('Region', 2)).toBe('Region 2');
    expect(messages.createdOn('2026-11-12T12:00:00Z')).toBe('Created 12 Nov 2026');
    expect(messages.createdOn('soon')).toBe('Created ');
    expect(messages.testDetail(412.3, 'Read 1 event')).toBe('Read 1 event in 412 ms.');
    expect(messages.testDetail(1249)).toBe('Answered in 1.2 s.');
    expect(messages.summary(1)).toBe('One thing to fix before saving');
    expect(messages.summary(12)).toBe('12 things to fix before saving');
    expect(messages.rowRemoved('Regions', 0)).toBe('Removed. Regions: none left');
    expect(messages.rowRemoved('Regions', 3)).toBe('Removed. Regions: 3 left');
    expect(messages.bounds(1, 65535)).toBe('From 1 to 65535');
    expect(messages.bounds(undefined, 9)).toBe('9 or less');
    expect(messages.bounds(0)).toBe('0 or more');
    expect(messages.bounds()).toBeUndefined();
    expect(messages.localTime('Berlin')).toBe('Berlin time');
    expect(messages.localTime('Berlin', '2026-11-12T08:30:00Z')).toBe('Berlin time. In UTC: 12 Nov 2026, 08:30');
  });

  it('does not interpret placeholders in values', () => {
    expect(messages.row('{1} $& {0}', 2)).toBe('{1} $& {0} 2');
  });

  it('has a function for each message with placeholders, and a string for each other', () => {
    for (const [key, value] of Object.entries(en)) {
      const places = JSON.stringify(value).includes('{0');
      const nested = key === 'issues' || key === 'failures';
      const said: unknown = Reflect.get(messages, key);
      if (!nested && !(key in { localTime: 1 })) expect(typeof said === 'function', key).toBe(places);
    }
  });
});

describe('cron', () => {
  it.each([
    ['* * * * *', 'Every minute'],
    ['*/5 * * * *', 'Every 5 minutes'],
    ['10 * * * *', 'Every hour, at minute 10'],
    ['0 */4 * * *', 'Every 4 hours, at minute 0'],
    ['30 6 * * *', 'Every day at 06:30 UTC'],
    ['0  6 * * 1', 'Monday at 06:00 UTC'],
    ['5 4 * * 0,3,7', 'Sunday, Wednesday and Sunday at 04:05 UTC'],
    ['5 4 * * 1-5', 'Monday to Friday at 04:05 UTC'],
    ['15 3 1 * *', 'Day 1 of every month at 03:15 UTC'],
  ])('describes %s as: %s', (expression, sentence) => {
    expect(messages.cron(expression)).toBe(sentence);
  });

  it.each(['', 'daily', '* * * *', '0 0 1 * 1', '0 0 * 1 *', '1,2 3 * * *', '0 0 * * 1-3-5'])(
    'does not describe %j',
    (cron) => {
      expect(messages.cron(cron)).toBeUndefined();
    },
  );
});

describe('issue', () => {
  const text: Subject = { label: 'Organization URL', kind: 'text' };
  const port: Subject = { label: 'Port', kind: 'number', integer: true, minimum: 1, maximum: 65535 };

  it.each([
    [{ code: 'required' }, text, 'Enter the organization URL'],
    [{ code: 'required' }, { ...text, label: 'API token' }, 'Enter the API token'],
    [{ code: 'required' }, { ...text, label: 'Okta domain' }, 'Enter the Okta domain'],
    [{ code: 'required' }, { label: 'Region', kind: 'enum' }, 'Choose the region'],
    [{ code: 'required' }, { label: 'Headers', kind: 'map' }, 'Add at least one entry to headers'],
    [{ code: 'required' }, { label: 'Headers', kind: 'key' }, 'Enter a name'],
    [
      { code: 'required' },
      { label: 'API token', kind: 'secret', secret: 'reentry' },
      'The address or the security of the connection changed, so the saved API token is not sent. Enter it again.',
    ],
    [{ code: 'minimum', params: { minimum: 1 } }, port, 'Use a number from 1 to 65535'],
    [
      { code: 'maximum', params: { maximum: 9 } },
      { label: 'Wait', kind: 'number', maximum: 9, unit: 'seconds' },
      'Use a number of 9 seconds or less',
    ],
    [{ code: 'type', params: { type: 'integer' } }, port, 'Use a whole number'],
    [{ code: 'required' }, port, 'Enter the port'],
    [{ code: 'min_length', params: { minLength: 8 } }, text, 'Use at least 8 characters'],
    [
      { code: 'min_items', params: { minItems: 1 } },
      { label: 'Regions', kind: 'string-list' },
      'Add at least one entry to regions',
    ],
    [
      { code: 'min_items', params: { minItems: 2 } },
      { label: 'Regions', kind: 'string-list' },
      'Add at least 2 entries to regions',
    ],
    [
      { code: 'format', params: { format: 'hostname', found: 'path' } },
      text,
      'Use the host name alone, without a path',
    ],
    [
      { code: 'format', params: { format: 'uri', found: 'no_scheme' } },
      text,
      'Use a full address that starts with https://',
    ],
    [{ code: 'format', params: { format: 'pem' } }, text, 'Paste the whole block, from its BEGIN line to its END line'],
    [{ code: 'pattern' }, { ...text, placeholder: 'AKIA…' }, 'Use this format: AKIA…'],
    [{ code: 'pattern' }, text, 'Check the organization URL'],
    [{ code: 'pattern', message: 'Use the address without a path.' }, text, 'Use the address without a path.'],
    [{ code: 'too_deep' }, text, 'Check the organization URL'],
  ] as const)('%j', (issue, subject, sentence) => {
    expect(messages.issue({ path: '/settings/x', ...issue }, subject, ['Okta'])).toBe(sentence);
  });
});
