import { expect, it } from 'vitest';
import language from '../messages/en.json' with { type: 'json' };
import { createMessages } from '../messages/index.js';
import { exampleType } from '../testing/example-type.js';
import { subjectOf } from './subject-of.js';

const subject = (runtime?: boolean) => {
  const supported_features = { test_connection: true, ...(runtime !== undefined && { runtime }) };
  const init = { kind: 'input', typeId: exampleType.type_id } as Parameters<typeof subjectOf>[0];
  return subjectOf(init, { ...exampleType, supported_features }, undefined, createMessages(language), () => undefined);
};

it('says that a type can only be saved if the service does not run it', () => {
  expect(subject(false).limitation).toBe(language.savedOnly);
});

it.each([true, undefined])('says nothing if the service reports %s', (runtime) => {
  expect(subject(runtime).limitation).toBe(false);
});
