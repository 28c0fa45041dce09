import type { Field } from '../src/model/field.js';

type Of<K extends Field['kind']> = Extract<Field, { kind: K }>;
type Assumed = 'required' | 'advanced' | 'deprecated' | 'destination' | 'key';
type Given<F extends Field> = Omit<F, Assumed> & Partial<Pick<F, Assumed>>;

/** A field with what the scenes rarely say filled in. */
export function make<K extends Field['kind']>(given: Given<Of<K>> & { kind: K; path: string }): Of<K> {
  const key = given.path.slice(given.path.lastIndexOf('/') + 1);
  const assumed = { key, required: false, advanced: false, deprecated: false, destination: false };
  return { ...assumed, ...given } as unknown as Of<K>;
}

export const url = make({
  kind: 'text',
  path: '/settings/org_url',
  label: 'Organization URL',
  help: 'The address you sign in at, without anything after the domain.',
  placeholder: 'https://acme.okta.com',
  format: 'uri',
  required: true,
  destination: true,
});

export const token = make({
  kind: 'secret',
  shape: 'line',
  path: '/secrets/api_token',
  label: 'API token',
  help: 'In Okta Admin: Security → API → Tokens. A read-only admin’s token is enough.',
  required: true,
});

export const signingKey = make({
  kind: 'secret',
  shape: 'line',
  path: '/secrets/signing_key',
  label: 'Signing key',
});

export const authentication = make({
  kind: 'variants',
  path: '/settings/auth',
  label: 'Authentication',
  discriminator: 'type',
  required: true,
  variants: [
    { value: 'token', label: 'API token', fields: [] },
    {
      value: 'oauth',
      label: 'OAuth service app',
      fields: [
        make({
          kind: 'text',
          path: '/settings/auth/oauth/client_id',
          label: 'Client ID',
          required: true,
        }),
      ],
    },
  ],
});

export const start = make({
  kind: 'enum',
  path: '/settings/start',
  label: 'Start from',
  placeholder: 'Now',
  options: [
    { value: '1d', label: 'One day ago' },
    { value: '7d', label: 'Seven days ago' },
    { value: '90d', label: '90 days ago' },
  ],
});

/** One field of every kind, and every shape of a kind. */
export const everyKind: Field[] = [
  make({
    kind: 'text',
    path: '/settings/text',
    label: 'Account',
    placeholder: 'acme-production',
    required: true,
  }),
  url,
  make({
    kind: 'text',
    path: '/settings/host',
    label: 'Host',
    format: 'hostname',
    placeholder: 'db.example.com',
  }),
  make({ kind: 'text', path: '/settings/email', label: 'Admin e-mail', format: 'email', required: true }),
  make({ kind: 'multiline', path: '/settings/query', label: 'Query', format: 'multiline', required: true }),
  make({
    kind: 'multiline',
    path: '/settings/certificate',
    label: 'CA certificate',
    format: 'pem',
    placeholder: '-----BEGIN CERTIFICATE-----',
  }),
  make({
    kind: 'number',
    path: '/settings/port',
    label: 'Port',
    integer: true,
    minimum: 1,
    maximum: 65535,
    required: true,
  }),
  make({
    kind: 'number',
    path: '/settings/timeout',
    label: 'Request timeout',
    integer: true,
    minimum: 1,
    maximum: 300,
    unit: 'seconds',
  }),
  make({
    kind: 'boolean',
    path: '/settings/tls',
    label: 'Verify certificates',
    help: 'Turn off only for a server of your own with a self-signed certificate.',
  }),
  make({ kind: 'boolean', path: '/settings/gzip', label: 'Compress' }),
  make({
    kind: 'enum',
    path: '/settings/format',
    label: 'Format',
    required: true,
    options: [
      { value: 'json', label: 'JSON' },
      { value: 'csv', label: 'CSV' },
      { value: 'parquet', label: 'Parquet' },
    ],
  }),
  make({
    kind: 'enum',
    path: '/settings/region',
    label: 'Region',
    required: true,
    options: [
      { value: 'us-east-1', label: 'US East (N. Virginia)' },
      { value: 'eu-central-1', label: 'Europe (Frankfurt)' },
      { value: 'eu-west-1', label: 'Europe (Ireland)' },
      { value: 'ap-southeast-2', label: 'Asia Pacific (Sydney)' },
    ],
  }),
  start,
  make({
    kind: 'date-time',
    path: '/settings/since',
    label: 'Backfill from',
    help: 'Leave empty to begin now.',
  }),
  make({ kind: 'cron', path: '/settings/schedule', label: 'Schedule', required: true }),
  make({
    kind: 'string-list',
    path: '/settings/events',
    label: 'Event types',
    help: 'Leave empty for all of them.',
    maxItems: 4,
    item: make({ kind: 'text', path: '', label: 'Event type', placeholder: 'user.session.start' }),
  }),
  make({
    kind: 'object-list',
    path: '/settings/brokers',
    label: 'Brokers',
    required: true,
    columns: [
      make({ kind: 'text', path: '/host', label: 'Broker host', format: 'hostname', required: true }),
      make({ kind: 'number', path: '/port', label: 'Broker port', integer: true, required: true }),
    ],
  }),
  make({
    kind: 'group',
    path: '/settings/rate_limit',
    label: 'Rate limit',
    help: 'Keeps below the limits of your plan.',
    fields: [
      make({
        kind: 'number',
        path: '/settings/rate_limit/rate',
        label: 'Requests',
        integer: true,
        required: true,
      }),
      make({
        kind: 'enum',
        path: '/settings/rate_limit/unit',
        label: 'Every',
        required: true,
        options: [
          { value: 's', label: 'Second' },
          { value: 'm', label: 'Minute' },
          { value: 'h', label: 'Hour' },
        ],
      }),
    ],
  }),
  make({ kind: 'map', path: '/settings/headers', label: 'Headers' }),
  authentication,
  make({
    kind: 'variants',
    path: '/settings/sink',
    label: 'Compression',
    help: 'What your reader can take.',
    discriminator: 'type',
    required: true,
    variants: [
      { value: 'none', label: 'None', fields: [] },
      { value: 'gzip', label: 'gzip', help: 'Read by everything.', fields: [] },
      { value: 'zstd', label: 'Zstandard', fields: [] },
      { value: 'snappy', label: 'Snappy', fields: [] },
    ],
  }),
  token,
  signingKey,
  make({ kind: 'secret', shape: 'multiline', path: '/secrets/note', label: 'Passphrases' }),
  make({
    kind: 'secret',
    shape: 'json',
    path: '/secrets/service_account',
    label: 'Service account key',
    help: 'The JSON file that Google Cloud made for the service account.',
    required: true,
  }),
  make({ kind: 'secret', shape: 'pem', path: '/secrets/private_key', label: 'Private key' }),
  make({ kind: 'secret', shape: 'map', path: '/secrets/secret_headers', label: 'Secret headers' }),
  make({ kind: 'text', path: '/settings/legacy', label: 'Legacy index', deprecated: true }),
];
