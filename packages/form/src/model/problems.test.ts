import type { ConnectorConfigSchema } from '@connector-frame/catalog/types';
import { expect, it } from 'vitest';
import en from '../messages/en.json' with { type: 'json' };
import { createMessages } from '../messages/index.js';
import { buildFields } from './build-fields.js';
import { problemsIn } from './problems.js';
import { createSecrets } from './secrets.js';

const variant = (value: string) => ({
  title: value,
  properties: { type: { const: value } },
  required: ['type'],
  additionalProperties: false as const,
});
const schema: ConnectorConfigSchema = {
  settings: {
    type: 'object',
    required: ['auth'],
    properties: { auth: { type: 'object', title: 'Sign-in', oneOf: [variant('key'), variant('none')] } },
    additionalProperties: false,
  },
  secrets: { type: 'object', properties: {}, additionalProperties: false },
};

it('reports a missing or unknown variant at the control that selects it', () => {
  const { fields } = buildFields({ config: schema });
  const secrets = createSecrets([], {}, () => undefined);
  const context = { schema, fields, secrets, messages: createMessages(en), names: [] };
  const problems = (settings: Record<string, unknown>) =>
    problemsIn({ name: 'x', description: '', settings, secrets: {} }, [], context);
  const there = { path: '/settings/auth/type', label: 'Sign-in', message: 'Choose the sign-in' };
  expect(problems({})).toEqual([{ ...there, code: 'required' }]);
  expect(problems({ auth: { type: 'other' } })).toEqual([{ ...there, code: 'enum' }]);
  expect(problems({ auth: { type: 'none' } })).toEqual([]);
});
