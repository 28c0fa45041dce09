import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { compile } from './build/compile.js';
import { describeProblem } from './build/problem.js';
import { readSources } from './build/read-sources.js';

it('the example in README.md is a valid type', () => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const [, json = ''] = /```json\n([\s\S]*?)\n```/.exec(readFileSync(`${root}/README.md`, 'utf8')) ?? [];
  const sources = readSources(root);
  const example = { file: 'types/inputs/acme-audit-logs.json', value: JSON.parse(json) };
  const { types, problems } = compile({ ...sources, types: [...sources.types, example] });
  expect(problems.map(describeProblem)).toEqual([]);
  expect(types.map(({ type_id }) => type_id)).toContain('acme-audit-logs');
});
