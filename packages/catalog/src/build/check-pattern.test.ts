import { describe, expect, it } from 'vitest';
import { patternProblem } from './check-pattern.js';

describe('patternProblem (S29)', () => {
  it.each(['^[a-z]+$', '^(?:a|b)$', '^a[|]b$', '^a\\|b$', '^(?!x)\\S+$', '^\\$\\\\$', '^[^/\\s][^\\s]*$'])(
    'accepts %s',
    (pattern) => {
      expect(patternProblem(pattern)).toBeUndefined();
    },
  );

  it.each([
    ['[a-z]+$', 'must be anchored'],
    ['^[a-z]+', 'must be anchored'],
    ['^[a-z]+\\$', 'must be anchored'],
    ['^a|b$', 'put the alternatives in a group'],
    ['^\\-$', 'does not compile'],
    ['^(?:a|a)*$', 'linear time'],
    ['^\\d*\\d*$', 'linear time'],
    ['^(.*,)*$', 'linear time'],
  ])('rejects %s', (pattern, message) => {
    expect(patternProblem(pattern)).toContain(message);
  });
});
