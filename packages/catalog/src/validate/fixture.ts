/** A schema with every kind of field, for the validator's own tests. */
import type { ConnectorConfig, ConnectorConfigSchema } from '../types.js';

export const schema: ConnectorConfigSchema = {
  settings: {
    type: 'object',
    additionalProperties: false,
    required: ['url', 'mode', 'auth'],
    properties: {
      url: {
        type: 'string',
        format: 'uri',
        pattern: '^https://[^/]+$',
        'x-message': 'No path.',
        'x-destination': true,
      },
      note: { type: 'string', format: 'multiline', minLength: 3, maxLength: 20 },
      mode: { type: 'string', enum: ['fast', 'safe'], default: 'safe' },
      retries: { type: 'integer', minimum: 0, maximum: 10, default: 3 },
      ratio: { type: 'number', minimum: 0, maximum: 1 },
      verbose: { type: 'boolean', default: false },
      verify_tls: { type: 'boolean', default: true, 'x-transport': true },
      topics: { type: 'array', items: { type: 'string', maxLength: 5 }, minItems: 1, maxItems: 3, uniqueItems: true },
      headers: {
        type: 'array',
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['name'],
          properties: { name: { type: 'string' }, value: { type: 'string', default: 'v' } },
        },
      },
      rate: {
        type: 'object',
        additionalProperties: false,
        required: ['amount'],
        properties: { amount: { type: 'integer', minimum: 1 }, per: { type: 'string', enum: ['second', 'hour'] } },
      },
      labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 5 }, maxProperties: 2 },
      auth: {
        type: 'object',
        'x-destination': true,
        default: 'key',
        oneOf: [
          { title: 'None', properties: { type: { const: 'none' } }, required: ['type'], additionalProperties: false },
          {
            title: 'Key',
            properties: {
              type: { const: 'key' },
              key_body: {
                type: 'object',
                additionalProperties: false,
                required: ['host'],
                properties: {
                  host: { type: 'string', format: 'hostname', 'x-destination': true },
                  port: { type: 'integer', default: 443 },
                },
              },
            },
            required: ['type', 'key_body'],
            additionalProperties: false,
          },
        ],
      },
      schedule: { type: 'string', format: 'cron', 'x-when': { path: '/settings/mode', in: ['safe'], required: true } },
      window: {
        type: 'integer',
        'x-when': { path: '/settings/schedule', in: ['* * * * *'], and: [{ path: '/settings/mode', in: ['safe'] }] },
      },
    },
  },
  secrets: {
    type: 'object',
    additionalProperties: false,
    required: ['token'],
    properties: {
      token: { type: 'string', writeOnly: true, minLength: 4 },
      headers: { type: 'object', additionalProperties: { type: 'string' }, writeOnly: true },
      cert: { type: 'string', format: 'pem', writeOnly: true, 'x-when': { path: '/settings/auth/type', in: ['key'] } },
    },
  },
};

/** A valid configuration. */
export const good: ConnectorConfig = {
  settings: {
    url: 'https://acme.example',
    mode: 'fast',
    topics: ['a', 'b'],
    headers: [{ name: 'x', value: 'y' }],
    rate: { amount: 5, per: 'hour' },
    labels: { env: 'prod' },
    auth: { type: 'key', key_body: { host: 'db.acme.example' } },
  },
  secrets: { token: 'abcd', headers: { Authorization: 'Bearer x' } },
};
