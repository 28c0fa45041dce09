import { readFileSync } from 'node:fs';

/** Variables with a secret. Each may be in a file, which `<name>_FILE` names. */
export const SECRET_VARIABLES = [
  'DATABASE_URL',
  'NATS_URL',
  'MASTER_KEY',
  'MASTER_KEY_PREVIOUS',
  'SERVICE_API_KEY',
  'METRICS_TOKEN',
  'SMTP_URL',
  'OIDC_CLIENT_SECRET',
  'USAGE_WEBHOOK_SECRET',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
] as const;

/** Variables that are set, and what is wrong with the others. */
export interface GivenVariables {
  given: Record<string, string>;
  /** One line each: the variable and how to set it, never a value. */
  problems: string[];
}

/**
 * Returns the variables that are not empty, with secrets read from their files. Line breaks at the
 * end of a file are not part of the secret. The environment of a process is visible in more places
 * than a file: in the description of a container, and to child processes.
 */
export function withSecretFiles(environment: Readonly<Record<string, string | undefined>>): GivenVariables {
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) if (value !== undefined && value !== '') given[name] = value;
  const problems: string[] = [];
  for (const name of SECRET_VARIABLES) {
    const file = `${name}_FILE`;
    const path = given[file];
    if (path === undefined) continue;
    const text = given[name] === undefined ? readSecret(path) : undefined;
    if (given[name] !== undefined) problems.push(`${file} must be unset if ${name} is set`);
    else if (text === undefined) problems.push(`${file} must be the path of a file that this user can read`);
    else if (text === '') problems.push(`${file} must be the path of a file that is not empty`);
    else given[name] = text;
  }
  return { given, problems };
}

function readSecret(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/[\r\n]+$/, '');
  } catch {
    return undefined;
  }
}
