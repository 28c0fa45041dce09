import { expect, it } from 'vitest';
import language from '../messages/en.json' with { type: 'json' };
import { createMessages } from '../messages/index.js';
import { exampleType } from '../testing/example-type.js';
import { subjectOf } from './subject-of.js';

const init: Parameters<typeof subjectOf>[0] = {
  source: 'monad-embed',
  type: 'init',
  version: 1,
  kind: 'input',
  typeId: exampleType.type_id,
  sessionToken: 'token-1',
  organizationId: 'org_1',
  apiBase: 'https://service.test',
};

const subject = (runtime?: boolean) => {
  const supported_features = { test_connection: true, ...(runtime !== undefined && { runtime }) };
  return subjectOf(init, { ...exampleType, supported_features }, undefined, createMessages(language), () => undefined);
};

it('says that a type can only be saved if the service does not run it', () => {
  expect(subject(false).limitation).toBe(language.savedOnly);
});

it.each([true, undefined])('says nothing if the service reports %s', (runtime) => {
  expect(subject(runtime).limitation).toBe(false);
});
