import { expect, it } from 'vitest';
import { describeError } from './describe-error.js';

it('returns names, codes and locations, but no part of the messages', () => {
  const cause = new TypeError('inner canary-2\n    at canary-3');
  const error = Object.assign(new Error('Failed query\n    at canary-1 (x.ts:1:1)\nparams: canary-1', { cause }), {
    code: '23505',
  });
  const described = describeError(error);
  expect(described).toMatchObject({ name: 'Error', code: '23505', cause: { name: 'TypeError' } });
  expect(JSON.stringify(described)).not.toContain('canary');
  expect(JSON.stringify(described)).toContain('describe-error.test.ts');
});
