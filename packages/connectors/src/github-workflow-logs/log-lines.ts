import { setImmediate as turn } from 'node:timers/promises';
import { BodyError, RequestError } from '@connector-frame/engine/connector-api';
import { unzipFiles } from '../_shared/poll/unpack-body.js';
import type { WorkflowRun } from './fetch-logs.js';

const MAX_UNPACKED = 128 * 1024 * 1024;
const MAX_LINES = 500_000;
const END_OF_DIRECTORY = Buffer.from('PK\u0005\u0006');
/** Lines to convert before yielding to the event loop. */
const SLICE = 5_000;
const TIME = /^\uFEFF?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z) ?/;

/**
 * Returns each line of a run's logs as a record. The archive has a file for each job, and perhaps the
 * same lines again by step, in folders; those are left out.
 */
export async function logLines(run: WorkflowRun, archive: Buffer): Promise<string[]> {
  const { id, attempt, ...fields } = run;
  const known = JSON.stringify({ ...fields, run_id: id, run_attempt: attempt });
  const lines: string[] = [];
  for (const { job, content } of jobsIn(archive)) {
    let number = 0;
    for (const line of content.toString('utf8').split('\n')) {
      const text = line.replace(/\r$/, '');
      if (text === '' || text === '\uFEFF') continue;
      number += 1;
      const [start = '', timestamp] = TIME.exec(text) ?? [];
      const own = JSON.stringify({ job, line: number, timestamp, message: text.slice(start.length) });
      lines.push(`${known.slice(0, -1)},${own.slice(1)}`);
      if (lines.length > MAX_LINES) throw new BodyError(413, 'The logs of this run have more than 500,000 lines.');
      if (lines.length % SLICE === 0) await turn();
    }
  }
  return lines;
}

function jobsIn(archive: Buffer): { job: string; content: Buffer }[] {
  let files;
  try {
    // Written last: an archive that breaks off has none.
    if (!archive.includes(END_OF_DIRECTORY)) throw new Error('no end');
    files = unzipFiles(archive, MAX_UNPACKED);
  } catch {
    throw new RequestError(503, 'The logs of this run are not a valid archive, or too large.');
  }
  const top = files.filter(({ name }) => /^[^/]+\.txt$/.test(name));
  const used = top.length > 0 ? top : files.filter(({ name }) => name.endsWith('.txt'));
  return used.map(({ name, content }) => ({ job: name.replace(/^-?\d+_/, '').replace(/\.txt$/, ''), content }));
}
