import type { CatalogType } from '@connector-frame/core/connect';
import { expect, test } from 'vitest';
import { editDistance } from './edit-distance.js';
import { createSearch } from './search-types.js';

const type = (type_id: string, name: string, category: string, description = ''): CatalogType => ({
  type_id,
  name,
  category,
  description,
  icon: null,
});
const search = createSearch([
  type('aws-guardduty', 'AWS GuardDuty', 'Cloud Security', 'Findings about threats in your AWS accounts.'),
  type('cloudtrail', 'AWS CloudTrail', 'Cloud Security', 'Calls to the AWS API.'),
  type('crowdstrike-event-stream', 'CrowdStrike Event Stream', 'Endpoint Security', 'Detections and audit events.'),
  type('okta-systemlog', 'Okta System Log', 'Identity Security', 'Sign-ins and admin changes.'),
  type('okta-users', 'Okta Users', 'Identity Security', 'People in your Okta organization.'),
  type('1password-events', '1Password Events', 'Identity Security', 'Sign-ins, and items that were used.'),
  type('cafe', 'Café Wächter', 'SaaS', 'Audit log.'),
]);
const ids = (words: string) => search(words).map(({ type_id: id }) => id);

test.each([
  ['okta', ['okta-systemlog', 'okta-users']],
  ['OKTA user', ['okta-users']],
  ['  okta   log ', ['okta-systemlog']],
  ['cloud', ['cloudtrail', 'aws-guardduty']],
  ['guard duty', ['aws-guardduty']],
  ['crowd strike', ['crowdstrike-event-stream']],
  ['1 password', ['1password-events']],
  ['identity', ['okta-systemlog', 'okta-users', '1password-events']],
  ['cafe wachter', ['cafe']],
])('finds matching types for %s', (words, expected) => {
  expect(ids(words)).toEqual(expected);
});

test.each([
  ['crowdstirke', 'crowdstrike-event-stream'],
  ['crodwstrik', 'crowdstrike-event-stream'],
  ['otka', 'okta-systemlog'],
  ['oktaa', 'okta-systemlog'],
  ['cloudtrial', 'cloudtrail'],
  ['gaurdduty', 'aws-guardduty'],
  ['1pasword', '1password-events'],
])('tolerates the typo %s for %s', (words, expected) => {
  expect(ids(words)[0]).toBe(expected);
});

test('returns all types in their order for an empty search', () => {
  expect(ids('')).toHaveLength(7);
  expect(ids(' - ')).toEqual(ids(''));
});

test.each(['zzz', 'okta zebra', 'aks'])('%s finds nothing', (words) => {
  expect(ids(words)).toEqual([]);
});

test.each([
  ['', '', 0],
  ['okta', 'okta', 0],
  ['okta', 'otka', 1],
  ['okta', 'oka', 1],
  ['okta', 'oktta', 1],
  ['kitten', 'sitting', 3],
  ['ab', 'ba', 1],
])('the distance of %j and %j is %d', (a, b, distance) => {
  expect(editDistance(a, b, 5)).toBe(distance);
  expect(editDistance(b, a, 5)).toBe(distance);
});

test('stops counting above the limit', () => {
  expect(editDistance('kitten', 'sitting', 2)).toBe(3);
  expect(editDistance('a', 'abcdefgh', 2)).toBe(3);
});
