import { describe, expect, it } from 'vitest';
import { resolveRefs, unusedFragments } from './resolve-refs.js';

const fragments = new Map([
  [
    'aws',
    {
      file: 'fragments/aws.json',
      value: {
        region: { type: 'string', title: 'Region' },
        home: { $ref: 'aws#/region', title: 'Home region' },
        here: { $ref: 'aws#/there' },
        there: { $ref: 'aws#/here' },
      },
    },
  ],
]);
const resolve = (value: unknown) => resolveRefs({ file: 'f.json', value }, fragments);

describe('resolveRefs', () => {
  it('replaces a $ref with its entry, overridden by sibling keys', () => {
    const { value, problems, used } = resolve({ a: [{ $ref: 'aws#/home', title: 'Mine', examples: ['x'] }] });
    expect(value).toEqual({ a: [{ type: 'string', title: 'Mine', examples: ['x'] }] });
    expect(problems).toEqual([]);
    expect([...used]).toEqual(['aws#/home', 'aws#/region']);
  });

  it.each([
    ['aws#/nope', '"aws#/nope" is not there'],
    ['gcp#/region', '"gcp#/region" is not there'],
    ['aws', '"aws" is not there'],
    [7, '$ref 7 is not there'],
    ['aws#/__proto__', 'is not there'],
    ['aws#/here', 'goes in a circle: aws#/here -> aws#/there -> aws#/here'],
  ])('rejects %s', (ref, message) => {
    const { problems } = resolve({ field: { $ref: ref } });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ file: 'f.json', pointer: '/field' });
    expect(problems[0]?.message).toContain(message);
  });
});

describe('unusedFragments', () => {
  it('names entries that no type uses', () => {
    const unused = unusedFragments(fragments, new Set(['aws#/region', 'aws#/home', 'aws#/here']));
    expect(unused).toEqual([
      { file: 'fragments/aws.json', pointer: '/there', message: 'no type uses this entry: delete it' },
    ]);
  });
});
