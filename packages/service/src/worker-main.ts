#!/usr/bin/env node
/** Entry point of a worker. */
import { createLog } from './log.js';
import { orExit, runProcess } from './process.js';
import { createWorker } from './worker.js';
import { UNUSED_BY_WORKERS } from './worker-env.js';

/** Names as one paragraph. */
function paragraph(names: readonly string[]): string {
  const lines = [''];
  for (const name of names) {
    const last = lines.at(-1) ?? '';
    if (last.length + name.length > 78) lines.push(name);
    else lines[lines.length - 1] = last === '' ? name : `${last} ${name}`;
  }
  return lines.map((line) => `  ${line}`).join('\n');
}

const USAGE = `Usage: connector-worker

Runs a share of the pipelines of a service, together with other workers. Set the same environment
variables as for the service. DATABASE_URL and MASTER_KEY are required. Without DATA_DIR, a worker uses a
folder for temporary files.

A worker responds to /livez, /readyz and /metrics, and opens the ports of inputs that listen. It serves
neither the API nor the form, and ignores these variables:

${paragraph(UNUSED_BY_WORKERS)}

Exit codes: 0 stopped, 1 failed, 2 wrong usage.
`;

const words = process.argv.slice(2);
await orExit(async () => {
  if (words.length === 0) {
    const log = createLog(process.env['LOG_LEVEL'] || 'info');
    await runProcess(log, () => createWorker(process.env, { log }));
  } else if (words.includes('--help')) process.stdout.write(USAGE);
  else {
    process.stderr.write(USAGE);
    process.exit(2);
  }
});
