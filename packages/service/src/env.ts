import ipaddr from 'ipaddr.js';
import { isNatsUrl } from '@connector-frame/engine';
import { z } from 'zod';
import { isPageOrigin } from './embed/origin.js';
import { DEFAULT_PORTS } from './connectors/ports.js';
import { defaultRateLimits, type RateLimit } from './http/rate-limits.js';
import { withSecretFiles } from './secret-files.js';
import { readMasterKey } from './secrets/master-key.js';
import { Email } from './sign-in/email.js';
import { DEFAULT_KEY_VALUE_LIMITS } from './store/key-values.js';

/**
 * Thrown if environment variables are invalid. The message names each variable, what is wrong with
 * it and how to set it, and never contains a secret value.
 */
export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
}

const list = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

const listOf = (isGood: (part: string) => boolean, hint: string) =>
  z
    .string()
    .default('')
    .transform(list)
    .refine((parts) => parts.every(isGood), hint);

const integer = (min: number, max: number, hint: string) =>
  z
    .string()
    .regex(/^\d+$/, hint)
    .transform(Number)
    .refine((value) => value >= min && value <= max, hint);

const origins = listOf(isPageOrigin, 'origins, separated by commas: https://app.example,http://localhost:3000');
const isRange = (text: string): boolean => {
  try {
    return text.includes('/') ? ipaddr.parseCIDR(text).length === 2 : ipaddr.isValid(text);
  } catch {
    return false;
  }
};

const masterKey = z
  .string()
  .refine((text) => {
    try {
      return readMasterKey(text) !== undefined;
    } catch {
      return false;
    }
  }, '32 random bytes in hex or base64; make one with: openssl rand -base64 32')
  .transform(readMasterKey);

const isBase = (text: string): boolean =>
  URL.canParse(text) &&
  /^https?:$/.test(new URL(text).protocol) &&
  new URL(text).search === '' &&
  new URL(text).hash === '';
const base = z
  .string()
  .refine(isBase, 'an address: https://connect.example')
  .transform((text) => text.replace(/\/+$/, ''));

const issuer = z
  .string()
  .refine((text) => isBase(text) && (new URL(text).protocol === 'https:' || isPageOrigin(new URL(text).origin)), {
    error: 'the address of the identity provider: https://login.example',
  });
const isAddress = (text: string): boolean => /^https?:\/\//.test(text) && URL.canParse(text);

/** An address in which the names of variables may stand for their values. */
const isTemplate = (text: string): boolean => {
  const filled = text.replaceAll(/\{(?:billing_account_id|product_id)\}/g, 'id');
  return isAddress(filled) && !/[{}]/.test(filled);
};

/** As in Standard Webhooks. */
const webhookSecret = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/, '"whsec_" and 24 to 64 bytes in base64')
  .transform((text) => Buffer.from(text.slice('whsec_'.length), 'base64'));

const MIB = 1024 * 1024;
const MAX_BYTES = 2 ** 50;
/** Largest values of `NATS_STREAMS` and `METRICS_PIPELINES`. */
export const MAX_JETSTREAM_STREAMS = 64;
export const MAX_LABELED_PIPELINES = 10_000;
const bytesHint = 'bytes, at least 1048576, for example 268435456';

const limitHint = '<requests>/<seconds>, for example 600/60, or "off"';
const rateLimit = (fallback: RateLimit | null) =>
  z
    .string()
    .regex(/^(?:off|[1-9]\d{0,8}\/[1-9]\d{0,5})$/, limitHint)
    .transform((text): RateLimit | null => {
      const [points, seconds] = text.split('/').map(Number);
      return text === 'off' ? null : { points: points ?? 0, seconds: seconds ?? 0 };
    })
    .optional()
    .transform((limit) => (limit === undefined ? fallback : limit));

const portRange = z
  .string()
  .regex(/^\d{1,5}(?:-\d{1,5})?$/, 'ports, for example 6514-6613')
  .transform((text) => {
    const [first = 0, last = first] = text.split('-').map(Number);
    return { first, last };
  })
  .refine(({ first, last }) => first >= 1 && first <= last && last <= 65_535, 'ports, for example 6514-6613');

const Variables = z.object({
  SERVICE_PORT: integer(0, 65_535, 'a port: 4000, or 0 for any free one').default(4_000),
  SERVICE_HOST: z.string().default('127.0.0.1'),
  PUBLIC_URL: base.optional(),
  API_BASES: listOf(isBase, 'addresses, separated by commas: https://api.example'),
  EMBED_ORIGINS: origins,
  ALLOWED_PARENT_ORIGINS: origins,
  DATA_DIR: z.string().default('.data'),
  FORM_DIR: z.string().optional(),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(?:ql)?:\/\//, 'a PostgreSQL address: postgres://user:password@host:5432/database')
    .optional(),
  POSTGRES_PREVIOUS: z.string().optional(),
  NATS_URL: z
    .string()
    .refine(isNatsUrl, 'addresses of NATS servers, separated by commas: nats://user:password@host:4222')
    .optional(),
  NATS_CREDS_FILE: z.string().optional(),
  NATS_NKEY_FILE: z.string().optional(),
  NATS_CA_FILE: z.string().optional(),
  NATS_TLS_CERT: z.string().optional(),
  NATS_TLS_KEY: z.string().optional(),
  NATS_PREFIX: z
    .string()
    .regex(/^[\w-]{1,64}$/, 'letters, digits, "_" and "-", at most 64')
    .default('connector-frame'),
  NATS_STREAMS: integer(
    1,
    MAX_JETSTREAM_STREAMS,
    `a number of JetStream streams, at most ${MAX_JETSTREAM_STREAMS}`,
  ).default(4),
  NATS_REPLICAS: integer(1, 5, 'a number of replicas, at most 5').optional(),
  ENGINE: z
    .enum(
      ['on', 'off', 'shared'],
      '"on", "off" for a replica that runs no pipelines, or "shared" for several that run them together',
    )
    .default('on'),
  FILE_OUTPUT_DIR: z.string().optional(),
  LOOKUP_DIR: z.string().optional(),
  KV_MAX_BYTES: integer(MIB, MAX_BYTES, bytesHint).default(DEFAULT_KEY_VALUE_LIMITS.maxBytes),
  KV_MAX_KEYS: integer(1, 1_000_000_000, 'a number of keys, at least 1').default(DEFAULT_KEY_VALUE_LIMITS.maxKeys),
  OUTPUT_BUFFER_BYTES: integer(MIB, MAX_BYTES, bytesHint).default(256 * MIB),
  OUTPUT_SPILL_BYTES: integer(MIB, MAX_BYTES, bytesHint).default(4096 * MIB),
  MIN_FREE_BYTES: integer(0, MAX_BYTES, 'bytes, for example 268435456; 0 to use the whole disk').default(256 * MIB),
  MASTER_KEY: masterKey.optional(),
  MASTER_KEY_PREVIOUS: masterKey.optional(),
  AWS_ACCESS_KEY_ID: z
    .string()
    .regex(/^\w{16,128}$/, 'the ID of an access key: AKIAIOSFODNN7EXAMPLE')
    .optional(),
  AWS_SECRET_ACCESS_KEY: z.string().max(1_000).optional(),
  AWS_SESSION_TOKEN: z.string().max(10_000).optional(),
  AWS_REGION: z
    .string()
    .regex(/^[a-z]{2,4}(?:-[a-z]+)+-\d$/, 'a region: us-east-1')
    .default('us-east-1'),
  AWS_TEMPLATE_URL: z
    .string()
    .regex(
      /^https:\/\/[a-z0-9.-]+\.amazonaws\.com(?:\.cn)?\/[^\s?#]+$/,
      'the address of an object in Amazon S3: https://acme.s3.eu-west-1.amazonaws.com/role.json',
    )
    .optional(),
  EGRESS_ALLOW: listOf(isRange, 'CIDR ranges, separated by commas: 10.1.0.0/16'),
  TRUST_PROXY: listOf(isRange, 'addresses or CIDR ranges of your proxies, separated by commas: 10.0.0.0/8'),
  RATE_LIMIT_ADDRESS: rateLimit(defaultRateLimits.address),
  RATE_LIMIT_KEY: rateLimit(defaultRateLimits.key),
  RATE_LIMIT_ORGANIZATION: rateLimit(defaultRateLimits.organization),
  RATE_LIMIT_SESSION: rateLimit(defaultRateLimits.session),
  RATE_LIMIT_USER: rateLimit(defaultRateLimits.user),
  RATE_LIMIT_SIGN_IN: rateLimit(defaultRateLimits.sign_in),
  RATE_LIMIT_SIGN_IN_ADDRESS: rateLimit(defaultRateLimits.sign_in_address),
  RATE_LIMIT_INVITE: rateLimit(defaultRateLimits.invite),
  RATE_LIMIT_TEST: rateLimit(defaultRateLimits.test),
  RATE_LIMIT_TEST_KEY: rateLimit(defaultRateLimits.test_key),
  RATE_LIMIT_TEST_TYPE: rateLimit(defaultRateLimits.test_type),
  RATE_LIMIT_TEST_ORGANIZATION: rateLimit(defaultRateLimits.test_organization),
  DEAD_LETTERS_MAX_BYTES: integer(1_048_576, 1_099_511_627_776, 'bytes, at least 1048576').default(16_777_216),
  DEAD_LETTERS_MAX_COUNT: integer(1, 100_000_000, 'a number of records, at least 1').default(100_000),
  DEAD_LETTERS_WHEN_FULL: z
    .enum(['block', 'drop_oldest'], '"block", to stop the delivery until there is space, or "drop_oldest"')
    .default('block'),
  SYSLOG_HOST: z
    .string()
    .refine(ipaddr.isValid, 'the address to listen at: 0.0.0.0 for all of IPv4, :: for all')
    .default('127.0.0.1'),
  SYSLOG_PORTS: portRange.default(DEFAULT_PORTS),
  SYSLOG_PUBLIC_HOST: z
    .string()
    .regex(/^[\w.:-]{1,255}$/, 'the host name or address that senders reach: logs.example')
    .optional(),
  SYSLOG_TLS_KEY: z.string().optional(),
  SYSLOG_TLS_CERT: z.string().optional(),
  INGEST_CACHE_SECONDS: integer(0, 86_400, 'seconds, at most 86400').default(3_600),
  AUDIT_LOG_DAYS: integer(1, 36_500, 'days, at most 36500').default(365),
  ALERT_DAYS: integer(1, 3_650, 'days, at most 3650').default(90),
  ALERT_REMINDER_MINUTES: integer(0, 43_200, 'minutes, at most 43200; 0: no reminders').default(240),
  CONFIG_OVERRIDES: z
    .enum(['on', 'off'], '"on", or "off" to forbid new overrides of connectors in pipelines')
    .default('on'),
  NODE_DATA: z.enum(['on', 'off'], '"on", or "off" to forbid watching the records that pass a node').default('on'),
  BETA_TYPES: z.enum(['on', 'off'], '"on", or "off" to hide connector types in beta').default('on'),
  CONSOLE_ORIGINS: origins,
  OAUTH_CLIENTS_FILE: z.string().optional(),
  OIDC_ISSUER: issuer.optional(),
  OIDC_CLIENT_ID: z.string().max(500).optional(),
  OIDC_CLIENT_SECRET: z.string().max(2_000).optional(),
  OIDC_TRUST_EMAIL: z
    .enum(['on', 'off'], '"on" if all addresses of the identity provider are confirmed, or "off"')
    .default('off'),
  LOCAL_ACCOUNTS: z.enum(['on', 'off'], '"on" for accounts with passwords, or "off"').default('off'),
  LOCAL_MFA: z
    .enum(['required', 'optional'], '"required" for a second factor of every local account, or "optional"')
    .default('required'),
  USER_SESSION_HOURS: integer(1, 720, 'hours, at most 720').default(12),
  SMTP_URL: z
    .string()
    .refine((text) => URL.canParse(text) && /^smtps?:$/.test(new URL(text).protocol), 'smtps://user:password@host:465')
    .optional(),
  MAIL_FROM: z
    .string()
    .regex(/^[^<>\r\n]*<[^\s<>@]+@[^\s<>@]+>$|^[^\s<>@]+@[^\s<>@]+$/, 'an address: Connectors <connectors@example.com>')
    .optional(),
  BOOTSTRAP_ADMIN_EMAIL: Email.optional(),
  METRICS_DAYS: integer(1, 3_650, 'days, at most 3650').default(90),
  USAGE_DAYS: integer(32, 36_500, 'days, at least 32').default(1_100),
  USAGE_WEBHOOK_URL: z.string().refine(isAddress, 'an address: https://host.example/usage').optional(),
  USAGE_WEBHOOK_SECRET: webhookSecret.optional(),
  BILLING_CHECKOUT_URL: z
    .string()
    .refine(isTemplate, 'an address: https://host.example/checkout?account={billing_account_id}&product={product_id}')
    .optional(),
  METRICS_PIPELINES: integer(
    0,
    MAX_LABELED_PIPELINES,
    `a number of pipelines, at most ${MAX_LABELED_PIPELINES}`,
  ).default(200),
  METRICS_TOKEN: z.string().min(16, 'at least 16 characters').optional(),
  LOG_LEVEL: z
    .enum(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      'trace, debug, info, warn, error, fatal or silent',
    )
    .default('info'),
  DRAIN_DELAY_MS: integer(0, 60_000, 'milliseconds, at most 60000').default(0),
  BOOTSTRAP_ORGANIZATION: z.string().max(200).optional(),
  SERVICE_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{16,200}$/, '16 to 200 visible ASCII characters; make one with: openssl rand -hex 32')
    .optional(),
});

const WithBootstrap = Variables.refine(
  (env) => env.BOOTSTRAP_ORGANIZATION === undefined || env.SERVICE_API_KEY !== undefined,
  {
    path: ['SERVICE_API_KEY'],
    error: 'set together with BOOTSTRAP_ORGANIZATION; make one with: openssl rand -hex 32',
  },
);

const WithSignIn = WithBootstrap.refine(
  (env) => (env.OIDC_ISSUER === undefined) === (env.OIDC_CLIENT_ID === undefined),
  { path: ['OIDC_CLIENT_ID'], error: 'set together with OIDC_ISSUER' },
)
  .refine((env) => env.OIDC_ISSUER === undefined || env.LOCAL_ACCOUNTS === 'off', {
    path: ['LOCAL_ACCOUNTS'],
    error: '"off" with OIDC_ISSUER: users sign in through the identity provider',
  })
  .refine((env) => (env.SMTP_URL === undefined) === (env.MAIL_FROM === undefined), {
    path: ['MAIL_FROM'],
    error: 'set together with SMTP_URL',
  })
  .refine((env) => env.BOOTSTRAP_ADMIN_EMAIL === undefined || env.BOOTSTRAP_ORGANIZATION !== undefined, {
    path: ['BOOTSTRAP_ORGANIZATION'],
    error: 'set together with BOOTSTRAP_ADMIN_EMAIL',
  })
  .refine(
    (env) => env.BOOTSTRAP_ADMIN_EMAIL === undefined || env.OIDC_ISSUER !== undefined || env.SMTP_URL !== undefined,
    {
      path: ['BOOTSTRAP_ADMIN_EMAIL'],
      error: 'set with OIDC_ISSUER or SMTP_URL; otherwise create the link with POST /v1/{org}/invites',
    },
  );

const Environment = WithSignIn.refine(
  (env) => (env.SYSLOG_TLS_KEY === undefined) === (env.SYSLOG_TLS_CERT === undefined),
  { path: ['SYSLOG_TLS_CERT'], error: 'set together with SYSLOG_TLS_KEY: files in PEM' },
)
  .refine((env) => (env.USAGE_WEBHOOK_URL === undefined) === (env.USAGE_WEBHOOK_SECRET === undefined), {
    path: ['USAGE_WEBHOOK_SECRET'],
    error: 'set together with USAGE_WEBHOOK_URL; make one with: echo whsec_$(openssl rand -base64 32)',
  })
  .refine((env) => (env.AWS_ACCESS_KEY_ID === undefined) === (env.AWS_SECRET_ACCESS_KEY === undefined), {
    path: ['AWS_SECRET_ACCESS_KEY'],
    error: 'set together with AWS_ACCESS_KEY_ID',
  })
  .refine((env) => env.NATS_URL === undefined || env.DATABASE_URL !== undefined, {
    path: ['DATABASE_URL'],
    error: 'set together with NATS_URL: the positions of outputs are kept in PostgreSQL',
  })
  .refine((env) => env.ENGINE !== 'shared' || env.DATABASE_URL !== undefined, {
    path: ['DATABASE_URL'],
    error: 'set together with ENGINE=shared: the processes share the pipelines of one PostgreSQL',
  })
  .refine((env) => (env.NATS_TLS_KEY === undefined) === (env.NATS_TLS_CERT === undefined), {
    path: ['NATS_TLS_CERT'],
    error: 'set together with NATS_TLS_KEY: files in PEM',
  })
  .refine((env) => env.OUTPUT_SPILL_BYTES >= env.OUTPUT_BUFFER_BYTES, {
    path: ['OUTPUT_SPILL_BYTES'],
    error: 'at least OUTPUT_BUFFER_BYTES',
  });

/** The validated environment. The README has a table of the variables. */
export type Env = z.output<typeof Environment>;

/**
 * Parses and validates environment variables, and reads the files of secrets (`MASTER_KEY_FILE`).
 * @param environment variables as strings; an empty one counts as not set
 * @throws EnvironmentError naming every invalid variable
 * @example
 * ```ts
 * const env = readEnv({ SERVICE_PORT: '0', DATA_DIR: '/var/lib/connectors' });
 * ```
 */
export function readEnv(environment: Readonly<Record<string, string | undefined>>): Env {
  const { given, problems } = withSecretFiles(environment);
  const result = Environment.safeParse(given);
  if (result.success && problems.length === 0) return result.data;
  const invalid = result.error?.issues.map((issue) => `${issue.path.join('.')} must be ${issue.message}`) ?? [];
  const lines = [...new Set([...problems, ...invalid])].map((line) => `\n  ${line}`);
  throw new EnvironmentError(`Invalid environment variables:${lines.join('')}`);
}
