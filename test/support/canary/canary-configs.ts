/**
 * Configurations of every connector type that has code or a poll definition, with a unique secret
 * in each secret field.
 */
import { generateKeyPairSync } from 'node:crypto';
import {
  CONNECTOR_KINDS,
  exampleConfig,
  loadCatalog,
  type ConnectorConfig,
  type ConnectorTypeData,
} from '@connector-frame/catalog';
import type { SecretSchema } from '@connector-frame/catalog/types';
import { validateConfig } from '@connector-frame/catalog/validate';
import { connectors } from '../../../packages/connectors/src/index.js';
import type { ConnectorCode } from '../../../packages/engine/src/connector-api/index.js';
import { createCertificate, type Certificate } from '../certificate.js';
import { google } from '../vendors/google.js';

export interface CanaryConfig {
  /** `output:http`, or with the choices that show a secret: `output:slack bot_token`. */
  name: string;
  type: ConnectorTypeData;
  code: ConnectorCode;
  config: ConnectorConfig;
  /** Secrets to search for, by type and field. */
  secrets: Record<string, string>;
}

type Choices = readonly (readonly [pointer: string, value: string | boolean])[];

/** Choices that show further secret fields, by type. */
const moreChoices: Readonly<Record<string, readonly Choices[]>> = {
  'input:kafka': [[['/settings/sasl/enabled', true]], [['/settings/tls/enabled', true]]],
  'output:kafka': [[['/settings/security_protocol', 'SASL_PLAINTEXT']], [['/settings/security_protocol', 'SSL']]],
  'input:postgresql': [[['/settings/ssl_mode/mode', 'disable']], [['/settings/ssl_mode/mode', 'verify-full']]],
  'output:elasticsearch': [[['/settings/auth_config/type', 'password']]],
  'output:opensearch': [[['/settings/auth_mode', 'basic']]],
  'output:hydrolix': [[['/settings/auth/type', 'password']]],
  'output:slack': [[['/settings/auth_config/type', 'bot_token']]],
  'output:splunk': [[['/settings/to_create', true]]],
  'input:google-workspace-admin-activity': [[['/settings/auth_type', 'oauth']]],
};
/** Choices without which a type has no secret of its own, by type. */
const firstChoices: Readonly<Record<string, Choices>> = {
  ...Object.fromEntries(
    ['aws-cloudwatch-logs', 'aws-data-firehose', 'aws-kinesis-data-streams', 'aws-sns'].map((typeId) => [
      `output:${typeId}`,
      [['/settings/auth/type', 'access_key']],
    ]),
  ),
  'output:scanner': [['/settings/auth/type', 'static_credentials']],
};
/** Host name of the certificate. */
export const CANARY_HOST = 'canary.example';
/** Ports of the echo servers, without and with TLS. */
export const ports = { kafka: 9_092, kafkaTls: 9_093, postgres: 5_432, postgresTls: 5_433, smtp: 587, nats: 4_222 };
const addressOf = (typeId: string, config: string): Record<string, unknown> => {
  if (typeId === 'kafka') {
    const tls = /"enabled":true[^}]*certificate|"security_protocol":"(SASL_)?SSL"/.test(config);
    return { bootstrap_servers: `${CANARY_HOST}:${tls ? ports.kafkaTls : ports.kafka}` };
  }
  if (typeId === 'nats') return { url: `nats://${CANARY_HOST}:${ports.nats}` };
  if (typeId === 'email-smtp') return { host: CANARY_HOST, port: ports.smtp };
  if (typeId !== 'postgresql') return {};
  return { host: CANARY_HOST, port: config.includes('verify-full') ? ports.postgresTls : ports.postgres };
};

const rsaKey = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
let made = 0;

/**
 * Returns one configuration for each type and authentication method. Secrets differ from call to
 * call.
 * @param pem a certificate for `CANARY_HOST`, used as the client certificate as well
 */
export function canaryConfigs(pem: Certificate = createCertificate(CANARY_HOST)): CanaryConfig[] {
  const catalog = loadCatalog();
  return CONNECTOR_KINDS.flatMap((kind) =>
    catalog.list(kind).flatMap(({ type_id: typeId }) => {
      const type = catalog.get(kind, typeId);
      const code = type && connectors(type);
      if (!type || !code || Object.keys(code).length === 0) return [];
      const name = `${kind}:${typeId}`;
      return [firstChoices[name] ?? [], ...(moreChoices[name] ?? [])].map((choices): CanaryConfig => {
        const label = choices.map(([pointer, value]) => `${pointer.split('/').at(-1)}=${value}`).join(' ');
        return { name: `${name} ${label}`.trim(), type, code, ...withCanaries(name, type, choices, pem) };
      });
    }),
  );
}

function withCanaries(
  name: string,
  type: ConnectorTypeData,
  choices: Choices,
  pem: Certificate,
): Pick<CanaryConfig, 'config' | 'secrets'> {
  const example = exampleConfig(type.config, { optional: true, choices: new Map(choices) });
  // The catalog's examples are not valid certificates.
  const text = JSON.stringify(example.settings).replaceAll(/"-----BEGIN[^"]*"/g, () => JSON.stringify(pem.cert));
  const settings = { ...JSON.parse(text), ...addressOf(type.type_id, text) };
  // The first ones are not implemented: they would fail every attempt before it connects. A rate limit
  // would delay the second request.
  const { required = [] } = type.config.settings;
  for (const field of ['entra_service_principal_auth', 'proxy_url', 'role_arn', 'rate_limit'])
    if (!required.includes(field)) delete settings[field];
  const unsupported = new Set(type.poll?.unsupported);
  for (const field of Object.keys(settings)) if (unsupported.has(`/settings/${field}`)) delete settings[field];
  // Snowflake's output refuses to load through a stage.
  if (name === 'output:snowflake') delete settings['stage'];
  delete settings.tls?.crt_file;
  const config: ConnectorConfig = { settings, secrets: {} };
  const secrets: Record<string, string> = {};
  for (const [field, given] of Object.entries(example.secrets)) {
    if (unsupported.has(`/secrets/${field}`)) continue;
    const path = `${name} ${field}`;
    const schema = type.config.secrets.properties[field];
    const format = schema && 'format' in schema ? schema.format : undefined;
    made += 1;
    if (format === 'pem') {
      const isKey = field.endsWith('key') || (schema !== undefined && 'x-private-key' in schema);
      // The key of the certificate is of an elliptic curve; most polls and Snowflake sign with RSA.
      const isRsa =
        name.includes(':snowflake') || (type.poll !== undefined && !/"algorithm":"ES/.test(JSON.stringify(type.poll)));
      const key = isRsa ? rsaKey : pem.key;
      config.secrets[field] = isKey ? key : pem.cert;
      if (isKey) secrets[path] = key.split('\n')[1] ?? '';
    } else if (name === 'input:microsoft-sharepoint-files') {
      secrets[path] = canaryFor(made, undefined);
      const app = { tenant_id: 'acme', client_id: 'app-1', client_secret: secrets[path] };
      config.secrets[field] = JSON.stringify({ auth_type: 'Service', ...app });
    } else if (format === 'json') {
      const file = String(google.config.secrets['credentials_json']);
      config.secrets[field] = file;
      const { private_key: privateKey }: { private_key: string } = JSON.parse(file);
      secrets[path] = privateKey.split('\n')[7] ?? '';
    } else if (typeof given === 'object') {
      secrets[path] = `canary/${made} "map" ümlaut+?`;
      config.secrets[field] = { 'X-Canary': secrets[path] };
    } else if (format === 'hostname') {
      secrets[path] = `canary-${String(made).padStart(4, '0')}.example.com`;
      config.secrets[field] = secrets[path];
    } else {
      const value = canaryFor(made, schema);
      config.secrets[field] = value;
      // In a URL, only the secret part.
      secrets[path] = /canary[\w-]*/.exec(value.startsWith('http') || value.includes('://') ? value : '')?.[0] ?? value;
    }
  }
  const issues = validateConfig(type.config, config);
  if (issues.length > 0) throw new Error(`${name}: ${JSON.stringify(issues)}`);
  return { config, secrets };
}

/** Returns a unique value with as many special characters as the field's schema allows. */
function canaryFor(number: number, schema: SecretSchema | undefined): string {
  const {
    minLength: min = 0,
    maxLength: max = 200,
    pattern,
    examples: [example = ''] = [],
  } = schema && 'type' in schema && schema.type === 'string' ? schema : {};
  const digits = String(number).padStart(4, '0');
  const candidates = [
    `canary/${digits} "text" ümlaut+?`,
    `canary/${digits}:text+text=`,
    `canary-${digits}-text-that-is-long-enough-for-it`,
    ...['xoxp-', 'xoxb-', 'tskey-client-'].map((prefix) => `${prefix}canary-${digits}-text`),
    `https://hooks.slack.com/services/canary-${digits}-text`,
    `postgresql://user:canary-${digits}-text@db.example:5432/logs`,
    `AKIACANARY${digits}XXXXXX`,
    `suCANARY${digits}XX`,
    `https://hooks.example/webhook/canary-${digits}-text`,
    `DICANARY${digits}XXXXXXXX`,
    `CANARY${digits}XXXXXX`,
    `ca7a${digits}`.repeat(4),
    `97531${digits}13579`,
    `amqps://user:canary-${digits}-text@broker.example/vhost`,
    // The end of an ID of the vendor's own form.
    example.replace(/[0-9A-Za-z]{8}$/, `ca7a${digits}`),
    example.replace(/\d{8}$/, `9753${digits}`),
    `ca7aca7a-${digits}-4000-8000-ca7aca7a${digits}`,
    // With what the pattern begins with, such as `pat` or `key_`.
    `${/^\^([\w-]+)(?![?*{])/.exec(pattern ?? '')?.[1] ?? ''}canary${digits}text`,
  ];
  const whole = pattern === undefined ? undefined : new RegExp(pattern, 'u');
  for (const candidate of candidates) {
    const text = candidate.padEnd(min, 'x');
    if (text.length <= max && (whole?.test(text) ?? true)) return text;
  }
  throw new Error(`No canary fits ${pattern}.`);
}
