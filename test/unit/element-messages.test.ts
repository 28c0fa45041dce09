import { expect, test } from 'vitest';
import language from '../../packages/form/src/messages/en.json' with { type: 'json' };
import { en } from '../../packages/element/src/messages/en.js';

// The element and the form are separate packages that users see as one.
test('the element and the form use the same sentences', () => {
  expect(en.loading).toBe(language.loading);
  expect(en.tryAgain).toBe(language.tryAgain);
  expect(en.loadFailed).toBe(language.failures.load_failed[0]);
});
