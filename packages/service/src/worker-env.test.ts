import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readWorkerEnv, UNUSED_BY_WORKERS } from './worker-env.js';

const required = { DATABASE_URL: 'postgres://localhost/service', MASTER_KEY: 'ab'.repeat(32) };

const textOf = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

describe('readWorkerEnv', () => {
  it('takes the environment of the service, and names what it ignores, valid or not', () => {
    const { env, hasFolder, unused } = readWorkerEnv({
      ...required,
      ENGINE: 'off',
      RATE_LIMIT_KEY: 'not a limit',
      BOOTSTRAP_ORGANIZATION: 'Northwind',
      SMTP_URL_FILE: '/run/secrets/not-mounted',
      CONSOLE_ORIGINS: '',
      LOG_LEVEL: 'debug',
      PATH: '/bin',
    });
    expect(env).toMatchObject({ ENGINE: 'shared', LOG_LEVEL: 'debug', DATABASE_URL: required.DATABASE_URL });
    expect(hasFolder).toBe(false);
    expect(unused).toEqual(['ENGINE', 'RATE_LIMIT_KEY', 'BOOTSTRAP_ORGANIZATION', 'SMTP_URL_FILE']);
    expect(readWorkerEnv({ ...required, DATA_DIR: '/data' })).toMatchObject({ hasFolder: true, unused: [] });
  });

  it.each([
    [{ MASTER_KEY: required.MASTER_KEY }, 'DATABASE_URL must be set'],
    [{ ...required, DATABASE_URL: '' }, 'DATABASE_URL must be set'],
    [{ ...required, EGRESS_ALLOW: 'everything' }, 'EGRESS_ALLOW must be'],
  ])('refuses %j', (environment, problem) => {
    expect(() => readWorkerEnv(environment)).toThrow(problem);
  });

  it('knows of each variable whether a worker uses it', () => {
    const all = [...textOf('env.ts').matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map(([, name = '']) => name);
    // What a worker starts. The types rule out that one of them reads a variable of the API.
    const sources = ['worker.ts', 'engine-setup.ts', 'open-core.ts', 'ingest/open-syslog.ts'].map(textOf).join('\n');
    const used = all.filter((name) => new RegExp(`\\b${name}\\b`).test(sources));
    const unused = new Set<string>(UNUSED_BY_WORKERS);
    expect(all.filter((name) => !unused.has(name) && !used.includes(name))).toEqual([]);
    expect([...unused].filter((name) => !all.includes(name))).toEqual([]);
  });
});
