#!/usr/bin/env node
/** Entry point of the process: starts the service, or runs the command in its arguments. */
import { destination } from 'pino';
import { bootstrap } from './bootstrap.js';
import { systemClock } from './clock.js';
import { readEnv } from './env.js';
import { createLog } from './log.js';
import { openCore } from './open-core.js';
import { orExit, runProcess } from './process.js';
import { createServer } from './server.js';
import { exportInstallation } from './transfer/export-installation.js';
import { importInstallation } from './transfer/import-installation.js';
import { TransferError } from './transfer/transfer-error.js';

const USAGE = `Usage: node dist/main.js [command]

Without a command, the service starts. Commands use the same environment variables.

  bootstrap <organization> [team ...]  create the first API key
  export <file>                        write all data of a stopped service to a file
  import <file>                        read such a file into a new, empty service

Exit codes: 0 done, 1 failed, 2 wrong usage. Results go to standard output, progress and errors to
standard error.
`;

async function firstKey(organization: string, teams: readonly string[]): Promise<void> {
  const env = readEnv(process.env);
  // Standard output is for the result.
  const log = createLog('warn', destination({ dest: 2, sync: true }));
  const { store, vault } = await openCore(env, systemClock, log);
  try {
    const preset = env.SERVICE_API_KEY === undefined ? {} : { apiKey: env.SERVICE_API_KEY };
    const made = await bootstrap({ store, secrets: vault }, { organization, teams, ...preset });
    process.stdout.write(`${JSON.stringify(made, null, 2)}\n`);
  } finally {
    await store.close();
  }
}

async function transfer(command: 'export' | 'import', file: string): Promise<void> {
  const ending = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => ending.abort(new TransferError(`Interrupted: the ${command} was not done.`)));
  const options = {
    env: readEnv(process.env),
    file,
    log: createLog('warn', destination({ dest: 2, sync: true })),
    onProgress: (line: string) => void process.stderr.write(`${line}\n`),
    signal: ending.signal,
  };
  const done = await (command === 'export' ? exportInstallation(options) : importInstallation(options));
  process.stdout.write(`${JSON.stringify({ file, ...done }, null, 2)}\n`);
}

const [command, ...words] = process.argv.slice(2);
const [first] = words;
await orExit(async () => {
  if (command === undefined) {
    const log = createLog(process.env['LOG_LEVEL'] || 'info');
    await runProcess(log, () => createServer(process.env, { log }));
  } else if (command === '--help' || words.includes('--help')) process.stdout.write(USAGE);
  else if (command === 'bootstrap' && first !== undefined) await firstKey(first, words.slice(1));
  else if ((command === 'export' || command === 'import') && first !== undefined && words.length === 1)
    await transfer(command, first);
  else {
    process.stderr.write(USAGE);
    process.exit(2);
  }
});
