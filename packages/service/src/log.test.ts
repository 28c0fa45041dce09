import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { createLog } from './log.js';

it('redacts secrets', () => {
  const lines: string[] = [];
  const log = createLog(
    'info',
    new Writable({ write: (chunk, _encoding, done) => (lines.push(String(chunk)), done()) }),
  );
  const secret = 'canary-0001';
  log.info(
    {
      authorization: secret,
      request: { headers: { 'x-api-key': secret, cookie: secret } },
      body: { password: secret },
    },
    'one',
  );
  log.info({ config: { secrets: { api_key: secret } }, token: secret }, 'two');
  log.debug('not at this level');
  expect(lines).toHaveLength(2);
  expect(lines.join('')).not.toContain(secret);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'info', msg: 'one', time: expect.any(Number) });
});
