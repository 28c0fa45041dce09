/**
 * Entry point of the process. `node dist/main.js` starts the service; `node dist/main.js bootstrap
 * <organization> [team ...]` creates the first API key.
 */
import { destination } from 'pino';
import { bootstrap } from './bootstrap.js';
import { systemClock } from './clock.js';
import { describeError } from './describe-error.js';
import { readEnv } from './env.js';
import { createLog } from './log.js';
import { openCore } from './open-core.js';
import { createServer } from './server.js';

async function start(): Promise<void> {
  const log = createLog(process.env['LOG_LEVEL'] || 'info');
  // Node would print the whole error, which can contain values of a database query.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.once(event, (error: unknown) => {
      log.fatal({ problem: describeError(error) }, 'fatal error; exiting');
      process.exit(1);
    });
  }
  const starting = createServer(process.env, { log });
  // Shut down cleanly even if the signal arrives during startup.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      starting
        .then((server) => server.close())
        .then(
          () => process.exit(0),
          () => process.exit(1),
        );
    });
  }
  await starting;
}

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

// Files that libraries create must be readable by the owner only, and a stricter umask must not
// make the service's own files unusable.
process.umask(0o077);
const [command, organization, ...teams] = process.argv.slice(2);
try {
  if (command === undefined) await start();
  else if (command === 'bootstrap' && organization !== undefined) await firstKey(organization, teams);
  else throw new Error('Usage: node dist/main.js [bootstrap <organization> [team ...]]');
} catch (error) {
  // Print only the message: the stack of an embedded database error is a page long.
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}
