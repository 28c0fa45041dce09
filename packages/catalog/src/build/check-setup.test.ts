import { expect, test } from 'vitest';
import { setAt } from '../validate/pointer.js';
import { compile } from './compile.js';
import { FILE, goodType, sourcesOf } from './fixture.js';
import { describeProblem } from './problem.js';

const setup = {
  field: '/settings/url',
  title: 'Create the role in AWS',
  documentation: ['https://acme.example/docs'],
  aws_role: {
    statements: [{ actions: ['s3:GetObject'], resources: ['arn:{{partition}}:s3:::{{/settings/only:optional}}*'] }],
  },
  steps: [{ title: 'Run this', text: 'acme grant {{/settings/only}} <team>' }],
};
const key = { type: 'string', title: 'Key', description: 'In Acme: Keys.', format: 'pem', 'x-private-key': 'plain' };
const good = setAt({ ...goodType, setup }, '/config/secrets/properties/key', key);

const problemsOf = (value: unknown): string[] => compile(sourcesOf(value)).problems.map(describeProblem);

test('accepts a consistent setup', () => {
  expect(problemsOf(good)).toEqual([]);
  const pair = { ...setup, field: '/secrets/key', aws_role: undefined, key_pair: true };
  const steps = [{ title: 'Run this', text: 'acme register {{/secrets/key:public_key}}' }];
  expect(problemsOf({ ...Object(good), setup: JSON.parse(JSON.stringify({ ...pair, steps })) })).toEqual([]);
});

test.each<[pointer: string, value: unknown, at: string, message: string]>([
  ['/setup/field', '/settings/none', '/setup/field', 'no field of this type'],
  ['/setup/field', '/settings/tags/*', '/setup/field', 'no field of this type'],
  ['/setup/field', '/secrets/token', '/setup/aws_role', 'belongs to the setting with the role'],
  ['/setup/title', 'Create the role.', '/setup/title', 'no period at the end'],
  ['/setup/key_pair', true, '/setup/key_pair', 'is for a private key'],
  ['/setup/aws_role/statements/0/actions', ['s3:*'], '/setup/aws_role/statements/0/actions/0', 'must be one action'],
  [
    '/setup/aws_role/statements/0/resources',
    ['arn:aws:s3:::logs'],
    '/setup/aws_role/statements/0/resources/0',
    'arn:{{',
  ],
  ['/setup/aws_role/statements', Array(4).fill(setup.aws_role.statements[0]), '/setup/aws_role', 'more than 3'],
  ['/setup/steps/0/text', 'acme {{/settings/none}}', '/setup/steps/0/text', 'no field of this type'],
  ['/setup/steps/0/text', 'acme {{/settings/only:upper}}', '/setup/steps/0/text', 'settings have'],
  // Secrets are never shown, only what the vendor receives anyway.
  ['/setup/steps/0/text', 'acme {{/secrets/token}}', '/setup/steps/0/text', 'would show /secrets/token'],
  ['/setup/steps/0/text', 'acme {{/secrets/token:guid}}', '/setup/steps/0/text', 'would show /secrets/token'],
  ['/setup/steps/0/text', 'acme {{/secrets/token:public_key}}', '/setup/steps/0/text', 'would show /secrets/token'],
  ['/setup/steps/0/text', 'acme {{/secrets/key:optional}}', '/setup/steps/0/text', 'would show /secrets/key'],
])('rejects %s = %j', (pointer, value, at, message) => {
  const found = problemsOf(setAt(good, pointer, value));
  expect(found).toContainEqual(expect.stringContaining(`${FILE}#${at}`));
  expect(found.join('\n')).toContain(message);
});
