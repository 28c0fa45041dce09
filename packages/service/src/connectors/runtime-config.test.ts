import { expect, it } from 'vitest';
import { typeOf } from '../../../../test/support/connectors.js';
import { runtimeConfig } from './runtime-config.js';

it('adds defaults of absent fields and drops hidden and unknown fields', () => {
  const kafka = typeOf('output', 'kafka');
  const settings = { bootstrap_servers: 'a:9092', topic: 't', removed_by_a_release: 1 };
  const password = { password: 'p' };
  expect(runtimeConfig(kafka, settings, password)).toMatchObject({
    settings: { security_protocol: 'SASL_SSL', sasl_mechanism: 'PLAIN' },
    secrets: password,
  });
  const open = runtimeConfig(kafka, { ...settings, security_protocol: 'NONE', sasl_mechanism: 'PLAIN' }, password);
  expect(open.secrets).toEqual({});
  expect(Object.keys(open.settings)).not.toEqual(expect.arrayContaining(['sasl_mechanism']));
  expect(open.settings).not.toHaveProperty('removed_by_a_release');
});
