import type { Logger } from 'pino';
import { describeError } from './describe-error.js';

/**
 * Starts a program of this process, and closes it on SIGTERM and SIGINT, also while it starts. A fatal
 * error is logged without its message.
 */
export async function runProcess(log: Logger, start: () => Promise<{ close(): Promise<void> }>): Promise<void> {
  // Node would print the whole error, which can contain values of a database query.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.once(event, (error: unknown) => {
      log.fatal({ problem: describeError(error) }, 'fatal error; exiting');
      process.exit(1);
    });
  }
  const starting = start();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      starting
        .then((running) => running.close())
        .then(
          () => process.exit(0),
          () => process.exit(1),
        );
    });
  }
  await starting;
}

/** Runs the program of this process. An error ends it with its message alone: a stack of the database is a page long. */
export async function orExit(work: () => Promise<void>): Promise<void> {
  // Files that libraries create must be readable by the owner only, and a stricter umask must not
  // make the service's own files unusable.
  process.umask(0o077);
  try {
    await work();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}
