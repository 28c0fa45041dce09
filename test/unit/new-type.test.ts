import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { compile } from '../../packages/catalog/src/build/compile.js';
import { readSources } from '../../packages/catalog/src/build/read-sources.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const script = `${root}scripts/new-type.mjs`;

test.each(['input', 'output', 'enrichment'])('a generated %s is valid except for the texts to fill in', (kind) => {
  const words = [kind, 'acme-audit-logs', 'Acme Audit Logs'];
  const value: unknown = JSON.parse(
    execFileSync(process.execPath, [script, ...words, '--print'], { encoding: 'utf8' }),
  );
  const file = `types/${kind}s/acme-audit-logs.json`;
  const sources = readSources(`${root}packages/catalog`);
  const { problems } = compile({ ...sources, types: [...sources.types, { file, value }] });
  expect(problems.map((problem) => [problem.file, problem.pointer, problem.message])).toEqual([
    [file, '/description', 'is a sentence: end it with a period'],
    [file, '/config/settings/properties/base_url/description', 'is a sentence: end it with a period'],
    [file, '/config/secrets/properties/api_token/description', 'is a sentence: end it with a period'],
  ]);
});

test.each([
  [[], 'Usage: npm run new-type'],
  [['inputs', 'acme', 'Acme'], 'Usage: npm run new-type'],
  [['input', 'Acme Logs', 'Acme'], 'A type id is lower-case letters, digits and "-".'],
  [['input', 'okta-systemlog', 'Okta'], 'packages/catalog/types/inputs/okta-systemlog.json is there already.'],
])('%j is rejected with a message that says what to do', (words, message) => {
  const { status, stderr } = spawnSync(process.execPath, [script, ...words], { encoding: 'utf8' });
  expect([status, stderr.includes(message)]).toEqual([1, true]);
});
