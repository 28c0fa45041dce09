/** A small valid type file that the tests of the checks modify. */
import type { Sources } from './read-sources.js';

export const FILE = 'types/inputs/acme-logs.json';

export const goodType = {
  type_id: 'acme-logs',
  kind: 'input',
  name: 'Acme Logs',
  description: 'Who signed in to Acme.',
  category: 'Identity Security',
  vendor: 'Acme',
  version: '1.0.0',
  evidence: 'docs',
  order: ['/settings/url', '/secrets/token'],
  config: {
    settings: {
      required: ['url', 'mode'],
      properties: {
        url: {
          type: 'string',
          title: 'URL',
          format: 'uri',
          pattern: '^https://[a-z.]+$',
          'x-message': 'Start with https://.',
          examples: ['https://acme.example'],
          'x-destination': true,
        },
        mode: {
          type: 'string',
          title: 'Mode',
          enum: ['fast', 'safe'],
          'x-labels': { fast: 'Fast', safe: 'Safe' },
          default: 'safe',
        },
        depth: { type: 'integer', title: 'Depth', minimum: 1, maximum: 9, 'x-unit': 'levels' },
        verbose: { type: 'boolean', title: 'Verbose', default: false },
        only: {
          type: 'string',
          title: 'Only',
          'x-when': { path: '/settings/mode', in: ['safe'], required: true },
        },
        auth: {
          title: 'Authentication',
          default: 'none',
          oneOf: [
            { title: 'None', properties: { type: { const: 'none' } } },
            {
              title: 'Key',
              properties: {
                type: { const: 'key' },
                key: {
                  properties: {
                    kind: { type: 'string', title: 'Kind', enum: ['a'], 'x-labels': { a: 'A' }, default: 'a' },
                    id: { type: 'string', title: 'ID', 'x-when': { path: '/settings/auth/key/kind', in: ['a'] } },
                  },
                },
              },
            },
          ],
        },
        tags: { title: 'Tags', items: { type: 'string', maxLength: 9 }, minItems: 1, maxItems: 5 },
        rows: {
          title: 'Rows',
          items: { required: ['name'], properties: { name: { type: 'string', title: 'Name' } } },
        },
        labels: { title: 'Labels', additionalProperties: { type: 'string' }, maxProperties: 5 },
      },
    },
    secrets: {
      required: ['token'],
      properties: {
        token: { type: 'string', title: 'Token', description: 'In Acme: Settings → Tokens.' },
      },
    },
  },
};

export const sourcesOf = (value: unknown, file = FILE): Sources => ({
  types: [{ file, value }],
  fragments: new Map(),
  providers: new Map(),
  icons: { file: 'icons.json', value: {} },
  notTransport: { file: 'not-transport.json', value: [] },
  vendorAliases: { file: 'vendor-aliases.json', value: {} },
  problems: [],
});
