import { expect, it } from 'vitest';
import language from '../messages/en.json' with { type: 'json' };
import { createMessages } from '../messages/index.js';
import { exampleConnector, exampleType } from '../testing/example-type.js';
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

const subject = (runtime?: boolean, reason?: string) => {
  const supported_features = { test_connection: true, ...(runtime !== undefined && { runtime }) };
  const type = { ...exampleType, supported_features, ...(reason !== undefined && { unavailable: { reason } }) };
  return subjectOf(init, type, undefined, createMessages(language), () => undefined);
};

it.each([
  [undefined, language.savedOnly],
  ['not_yet', language.savedOnly],
  ['a reason of a newer service', language.savedOnly],
  ['agent', language.needsAgent],
  ['proprietary', language.proprietary],
  ['withdrawn', language.withdrawn],
])('says why no data can flow, and offers no test: %s', (reason, sentence) => {
  expect(subject(false, reason)).toMatchObject({ limitation: sentence, canTest: false });
});

it.each([true, undefined])('says nothing if the service reports %s', (runtime) => {
  expect(subject(runtime)).toMatchObject({ limitation: false, canTest: true });
});

it('names the address of a saved connector that receives records', () => {
  const saved = { ...exampleConnector, ingest: { url: 'https://service.test/ingest/1.x' } };
  const messages = createMessages(language);
  expect(subjectOf(init, exampleType, saved, messages, () => undefined).address).toBe(
    'Send records to https://service.test/ingest/1.x',
  );
  expect(subjectOf(init, exampleType, exampleConnector, messages, () => undefined)).not.toHaveProperty('address');
});
