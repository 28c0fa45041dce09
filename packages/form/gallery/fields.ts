import type { Field } from '../src/model/field.js';

/** Returns defaults for the properties that scenes rarely set on a field. */
export function at(path: string) {
  const key = path.slice(path.lastIndexOf('/') + 1);
  return { path, key, required: false, advanced: false, deprecated: false, destination: false };
}

export const url: Field = {
  ...at('/settings/org_url'),
  kind: 'text',
  label: 'Organization URL',
  help: 'The address you sign in at, without anything after the domain.',
  placeholder: 'https://acme.okta.com',
  format: 'uri',
  required: true,
  destination: true,
};

export const token: Field = {
  ...at('/secrets/api_token'),
  kind: 'secret',
  shape: 'line',
  label: 'API token',
  help: 'In Okta Admin: Security → API → Tokens. A read-only admin’s token is enough.',
  required: true,
};

export const signingKey: Field = { ...at('/secrets/signing_key'), kind: 'secret', shape: 'line', label: 'Signing key' };

export const authentication: Field = {
  ...at('/settings/auth'),
  kind: 'variants',
  label: 'Authentication',
  discriminator: 'type',
  required: true,
  variants: [
    { value: 'token', label: 'API token', fields: [] },
    {
      value: 'oauth',
      label: 'OAuth service app',
      fields: [{ ...at('/settings/auth/oauth/client_id'), kind: 'text', label: 'Client ID', required: true }],
    },
  ],
};

export const start: Field = {
  ...at('/settings/start'),
  kind: 'enum',
  label: 'Start from',
  placeholder: 'Now',
  options: [
    { value: '1d', label: 'One day ago' },
    { value: '7d', label: 'Seven days ago' },
    { value: '90d', label: '90 days ago' },
  ],
};

/** One field of every kind, and of every variation within a kind. */
export const everyKind: Field[] = [
  { ...at('/settings/text'), kind: 'text', label: 'Account', placeholder: 'acme-production', required: true },
  url,
  { ...at('/settings/host'), kind: 'text', label: 'Host', format: 'hostname', placeholder: 'db.example.com' },
  { ...at('/settings/email'), kind: 'text', label: 'Admin e-mail', format: 'email', required: true },
  { ...at('/settings/query'), kind: 'multiline', label: 'Query', format: 'multiline', required: true },
  {
    ...at('/settings/certificate'),
    kind: 'multiline',
    label: 'CA certificate',
    format: 'pem',
    placeholder: '-----BEGIN CERTIFICATE-----',
  },
  { ...at('/settings/port'), kind: 'number', label: 'Port', integer: true, minimum: 1, maximum: 65535, required: true },
  {
    ...at('/settings/timeout'),
    kind: 'number',
    label: 'Request timeout',
    integer: true,
    minimum: 1,
    maximum: 300,
    unit: 'seconds',
  },
  {
    ...at('/settings/tls'),
    kind: 'boolean',
    label: 'Verify certificates',
    help: 'Turn off only for a server of your own with a self-signed certificate.',
  },
  { ...at('/settings/gzip'), kind: 'boolean', label: 'Compress' },
  {
    ...at('/settings/format'),
    kind: 'enum',
    label: 'Format',
    required: true,
    options: [
      { value: 'json', label: 'JSON' },
      { value: 'csv', label: 'CSV' },
      { value: 'parquet', label: 'Parquet' },
    ],
  },
  {
    ...at('/settings/region'),
    kind: 'enum',
    label: 'Region',
    required: true,
    options: [
      { value: 'us-east-1', label: 'US East (N. Virginia)' },
      { value: 'eu-central-1', label: 'Europe (Frankfurt)' },
      { value: 'eu-west-1', label: 'Europe (Ireland)' },
      { value: 'ap-southeast-2', label: 'Asia Pacific (Sydney)' },
    ],
  },
  start,
  { ...at('/settings/since'), kind: 'date-time', label: 'Backfill from', help: 'Leave empty to begin now.' },
  { ...at('/settings/schedule'), kind: 'cron', label: 'Schedule', required: true },
  {
    ...at('/settings/events'),
    kind: 'string-list',
    label: 'Event types',
    help: 'Leave empty for all of them.',
    maxItems: 4,
    item: { ...at(''), kind: 'text', label: 'Event type', placeholder: 'user.session.start' },
  },
  {
    ...at('/settings/brokers'),
    kind: 'object-list',
    label: 'Brokers',
    required: true,
    columns: [
      { ...at('/host'), kind: 'text', label: 'Broker host', format: 'hostname', required: true },
      { ...at('/port'), kind: 'number', label: 'Broker port', integer: true, required: true },
    ],
  },
  {
    ...at('/settings/rate_limit'),
    kind: 'group',
    label: 'Rate limit',
    help: 'Keeps below the limits of your plan.',
    fields: [
      { ...at('/settings/rate_limit/rate'), kind: 'number', label: 'Requests', integer: true, required: true },
      {
        ...at('/settings/rate_limit/unit'),
        kind: 'enum',
        label: 'Every',
        required: true,
        options: [
          { value: 's', label: 'Second' },
          { value: 'm', label: 'Minute' },
          { value: 'h', label: 'Hour' },
        ],
      },
    ],
  },
  { ...at('/settings/headers'), kind: 'map', label: 'Headers' },
  authentication,
  {
    ...at('/settings/sink'),
    kind: 'variants',
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
  },
  {
    ...at('/settings/proxy'),
    kind: 'variants',
    label: 'Proxy sign-in',
    discriminator: 'type',
    variants: [
      {
        value: 'basic',
        label: 'User and password',
        fields: [{ ...at('/settings/proxy/basic/user'), kind: 'text', label: 'Proxy user', required: true }],
      },
      { value: 'bearer', label: 'Bearer', fields: [] },
    ],
  },
  token,
  signingKey,
  { ...at('/secrets/note'), kind: 'secret', shape: 'multiline', label: 'Passphrases' },
  {
    ...at('/secrets/service_account'),
    kind: 'secret',
    shape: 'json',
    label: 'Service account key',
    help: 'The JSON file that Google Cloud made for the service account.',
    required: true,
  },
  { ...at('/secrets/private_key'), kind: 'secret', shape: 'pem', label: 'Private key' },
  { ...at('/secrets/secret_headers'), kind: 'secret', shape: 'map', label: 'Secret headers' },
  { ...at('/settings/legacy'), kind: 'text', label: 'Legacy index', deprecated: true },
];
