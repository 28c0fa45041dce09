import { EnvironmentError, readEnv, type Env } from './env.js';

/** Variables of the API: a worker ignores them. */
export const UNUSED_BY_WORKERS = [
  'ENGINE',
  'POSTGRES_PREVIOUS',
  'MIN_FREE_BYTES',
  'FORM_DIR',
  'API_BASES',
  'EMBED_ORIGINS',
  'ALLOWED_PARENT_ORIGINS',
  'CONSOLE_ORIGINS',
  'TRUST_PROXY',
  'RATE_LIMIT_ADDRESS',
  'RATE_LIMIT_KEY',
  'RATE_LIMIT_ORGANIZATION',
  'RATE_LIMIT_SESSION',
  'RATE_LIMIT_USER',
  'RATE_LIMIT_SIGN_IN',
  'RATE_LIMIT_SIGN_IN_ADDRESS',
  'RATE_LIMIT_INVITE',
  'RATE_LIMIT_TEST',
  'RATE_LIMIT_TEST_KEY',
  'RATE_LIMIT_TEST_TYPE',
  'RATE_LIMIT_TEST_ORGANIZATION',
  'INGEST_CACHE_SECONDS',
  'AUDIT_LOG_DAYS',
  'ALERT_DAYS',
  'CONFIG_OVERRIDES',
  'NODE_DATA',
  'BETA_TYPES',
  'AWS_TEMPLATE_URL',
  'OIDC_ISSUER',
  'OIDC_CLIENT_ID',
  'OIDC_CLIENT_SECRET',
  'OIDC_TRUST_EMAIL',
  'LOCAL_ACCOUNTS',
  'LOCAL_MFA',
  'USER_SESSION_HOURS',
  'SMTP_URL',
  'MAIL_FROM',
  'BOOTSTRAP_ORGANIZATION',
  'BOOTSTRAP_ADMIN_EMAIL',
  'SERVICE_API_KEY',
  'BILLING_CHECKOUT_URL',
] as const satisfies readonly (keyof Env)[];

/** The validated environment of a worker, without the variables of the API. */
export type WorkerEnv = Omit<Env, (typeof UNUSED_BY_WORKERS)[number]>;

export interface WorkerEnvironment {
  env: WorkerEnv;
  /** Whether `DATA_DIR` is set. Otherwise the worker creates a folder for itself. */
  hasFolder: boolean;
  /** Names of the variables that are set, and that a worker ignores. */
  unused: string[];
}

/**
 * Reads the environment of a worker. It may be the service's environment: what only the API uses is neither
 * read nor validated.
 * @throws EnvironmentError naming every invalid variable
 */
export function readWorkerEnv(environment: Readonly<Record<string, string | undefined>>): WorkerEnvironment {
  const ignored = new Set<string>(UNUSED_BY_WORKERS.flatMap((name) => [name, `${name}_FILE`]));
  const given = Object.entries(environment).filter(([, value]) => value !== undefined && value !== '');
  const used = Object.fromEntries(given.filter(([name]) => !ignored.has(name)));
  if (used['DATABASE_URL'] === undefined && used['DATABASE_URL_FILE'] === undefined)
    throw new EnvironmentError(
      'Invalid environment variables:\n  DATABASE_URL must be set: a worker runs the pipelines of the service with this PostgreSQL',
    );
  return {
    env: readEnv({ ...used, ENGINE: 'shared' }),
    hasFolder: used['DATA_DIR'] !== undefined,
    unused: given.map(([name]) => name).filter((name) => ignored.has(name)),
  };
}
