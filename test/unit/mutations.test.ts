import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
// @ts-expect-error -- a script without types
import { mutations } from '../../scripts/lib/mutations.mjs';

interface Mutation {
  row: string;
  what: string;
  file: string;
  find: string | RegExp;
}
const all: readonly Mutation[] = mutations;

// The mutations themselves take an hour, and run with `npm run test:long -- mutations`.
it.each(all.map((mutation) => [`${mutation.row}: ${mutation.what}`, mutation] as const))(
  'the code that the mutation changes is there: %s',
  (_, { file, find }) => {
    const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    const found = typeof find === 'string' ? source.split(find).length - 1 : [...source.matchAll(find)].length;
    if (typeof find === 'string') expect(found).toBe(1);
    else expect(found).toBeGreaterThan(0);
  },
);
