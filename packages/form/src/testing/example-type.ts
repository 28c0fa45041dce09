import type { ConnectorConfigSchema } from '@connector-frame/catalog/types';
import type { Connector, ConnectorType } from '../model/wire.js';

const config: ConnectorConfigSchema = {
  settings: {
    type: 'object',
    required: ['org_url', 'regions'],
    additionalProperties: false,
    properties: {
      page_size: { type: 'integer', title: 'Page size', minimum: 1, maximum: 1000, default: 100, 'x-advanced': true },
      org_url: {
        type: 'string',
        title: 'Organization URL',
        description: 'The address you sign in at.',
        examples: ['https://acme.okta.com'],
        format: 'uri',
        pattern: '^https?://[^/]+/?$',
        'x-message': 'Use the address without a path.',
        'x-destination': true,
      },
      start: { type: 'string', title: 'Start from', enum: ['now', 'all'], 'x-labels': { now: 'Now' }, default: 'now' },
      since: {
        type: 'string',
        title: 'Since',
        format: 'date-time',
        'x-when': { path: '/settings/start', in: ['all'], required: true },
      },
      regions: {
        type: 'array',
        title: 'Regions',
        items: { type: 'string', minLength: 2 },
        minItems: 1,
        uniqueItems: true,
      },
      filters: {
        type: 'array',
        title: 'Filters',
        items: {
          type: 'object',
          required: ['field'],
          additionalProperties: false,
          properties: {
            field: { type: 'string', title: 'Field' },
            limit: { type: 'number', title: 'Limit', default: 5 },
          },
        },
      },
      headers: { type: 'object', title: 'Headers', additionalProperties: { type: 'string' } },
      proxy: {
        type: 'object',
        title: 'Proxy',
        additionalProperties: false,
        properties: { host: { type: 'string', title: 'Proxy host', format: 'hostname', 'x-destination': true } },
      },
      auth: {
        type: 'object',
        title: 'Authentication',
        default: 'token',
        oneOf: [
          {
            title: 'API token',
            properties: { type: { const: 'token' } },
            required: ['type'],
            additionalProperties: false,
          },
          {
            title: 'OAuth service app',
            properties: {
              type: { const: 'oauth' },
              oauth: {
                type: 'object',
                required: ['client_id'],
                additionalProperties: false,
                properties: {
                  client_id: { type: 'string', title: 'Client ID' },
                  scope: { type: 'string', title: 'Scope', default: 'logs.read' },
                },
              },
            },
            required: ['type'],
            additionalProperties: false,
          },
        ],
      },
      synthetic: { type: 'boolean', title: 'Synthetic data', 'x-role': 'synthetic-toggle' },
    },
  },
  secrets: {
    type: 'object',
    required: ['signing_key'],
    additionalProperties: false,
    properties: {
      token: {
        type: 'string',
        title: 'API token',
        writeOnly: true,
        'x-when': { path: '/settings/auth/type', in: ['token'], required: true },
      },
      signing_key: { type: 'string', title: 'Signing key', writeOnly: true },
      extra: { type: 'object', title: 'Extra headers', additionalProperties: { type: 'string' }, writeOnly: true },
    },
  },
};

/** A type with every field kind that has its own behavior. */
export const exampleType: ConnectorType = {
  type_id: 'okta-systemlog',
  name: 'Okta System Log',
  description: 'Sign-ins from your Okta organization.',
  vendor: 'Okta',
  icon: 'data:image/svg+xml,%3Csvg/%3E',
  supported_features: { test_connection: true },
  order: ['/settings/org_url', '/settings/auth'],
  config,
};

/** A saved connector of that type. */
export const exampleConnector: Connector = {
  id: 'con_1',
  name: 'Okta production',
  description: 'All of it',
  type: exampleType.type_id,
  created_at: '2026-11-12T08:30:00Z',
  version: 3,
  config: {
    settings: {
      page_size: 100,
      org_url: 'https://acme.okta.com',
      start: 'now',
      regions: ['eu'],
      headers: { 'X-Team': 'security' },
      auth: { type: 'token' },
    },
    secrets: {
      token: { id: 'sec_1', name: 'API token', updated_at: '2026-11-12T08:30:00Z' },
      signing_key: { id: 'sec_2', updated_at: '2026-11-12T08:30:00Z' },
    },
  },
};
