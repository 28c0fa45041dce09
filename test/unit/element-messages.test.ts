import { expect, test } from 'vitest';
import { whyUnavailable } from '../../demo/src/pages/shared/lists.js';
import language from '../../packages/form/src/messages/en.json' with { type: 'json' };
import { catalogEn, en } from '../../packages/element/src/messages/en.js';

// The element and the form are separate packages that users see as one.
test('the element and the form use the same sentences', () => {
  expect(en.loading).toBe(language.loading);
  expect(en.tryAgain).toBe(language.tryAgain);
  expect([en.loadFailed, en.loadFailedHint]).toEqual(language.failures.load_failed);
  expect(en.causes['connector_not_found']).toContain(language.failures.connector_not_found[0]);
  expect(en.causes['offline']).toBe(language.failures.offline.join('. '));
  for (const key of ['savedOnly', 'needsAgent', 'proprietary', 'withdrawn'] as const)
    expect([catalogEn[key], whyUnavailable[key]]).toEqual([language[key], language[key]]);
});
