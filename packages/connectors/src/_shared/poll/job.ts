import { createHash } from 'node:crypto';
import type { PollJob } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { unexpected } from '../connection-test/failures.js';
import { failed } from '../connection-test/outcome.js';
import { encodeBody, type PollCall } from './call.js';
import type { PollClient } from './client.js';
import { isDownload } from './download.js';
import { textAt } from './pagination.js';
import { PollError } from './poll-error.js';
import type { StreamState } from './state.js';
import type { Values } from './template.js';

const DEFAULT_TIMEOUT_S = 21_600;

/** An export in progress. */
export type JobState = {
  id: string;
  /** Milliseconds since the epoch. */
  started: number;
  /** Number of parts that were read. */
  read: number;
};

/** The last export that the vendor keeps, and a hash of the request that started it. */
export type LastJob = { id: string; of: string };

/** Whether it is time to start a job; one that was started in the future had a wrong clock. */
export function isJobDue({ every_seconds: every = 0 }: PollJob, { started }: StreamState, now: number): boolean {
  return started === undefined || started > now || now - started >= every * 1_000;
}

/**
 * Starts a job, or runs the last one again if it is of the same request.
 *
 * @returns its id, and what identifies it if it can be run again
 * @throws PollError
 */
export async function startJob(
  job: PollJob,
  last: LastJob | undefined,
  client: PollClient,
  values: Values,
  signal: AbortSignal,
): Promise<{ id: string; last?: LastJob }> {
  const call = client.request(job.start, values);
  const request = async (sent: PollCall, path: string): Promise<string> =>
    textAt((await client.send(sent, signal)).body, path);
  const { again } = job;
  const content = `${call.url.href} ${encodeBody(call)?.text ?? ''}`;
  const of = createHash('sha256').update(content).digest('base64url').slice(0, 12);
  const isSame = again !== undefined && last?.of === of;
  const rerun = isSame ? await request(client.request(again, { ...values, job: last.id }), again.id).catch(ifGone) : '';
  const id = rerun || (await request(call, job.start.id));
  if (id === '') throw new PollError(unexpected(client.subject), 'retry');
  return { id, ...(again && { last: { id, of } }) };
}

/** Returns an empty id if the vendor rejected to run an export again, as it does without it. */
function ifGone(error: unknown): '' {
  const isRejected = error instanceof PollError && error.kind !== 'throttled' && (error.status ?? 500) < 500;
  if (!isRejected) throw error;
  return '';
}

/**
 * Returns the parts of a finished job, `[undefined]` if there is only one, or `running`.
 *
 * @returns `failed` with the error to report, if the job is to be given up
 */
export async function jobProgress(
  job: PollJob,
  { id, started }: JobState,
  client: PollClient,
  values: Values,
  signal: AbortSignal,
): Promise<'running' | { parts: readonly (string | undefined)[] } | { failed: PollError }> {
  if (!job.status) return { parts: [undefined] };
  const { body } = await client.send(client.request(job.status, { ...values, job: id }), signal);
  const status = textOf(getAt(body, job.status.value));
  const { product } = client.subject;
  if (job.status.failed?.includes(status))
    return { failed: new PollError(failed('upstream_error', `${product} could not finish an export.`), 'retry') };
  if (!job.status.done.includes(status)) {
    const limit = (job.timeout_seconds ?? DEFAULT_TIMEOUT_S) * 1_000;
    if (client.vendorClock.now() - started <= limit) return 'running';
    return { failed: new PollError(failed('timeout', `${product} did not finish an export in time.`), 'retry') };
  }
  if (!job.parts) return { parts: [undefined] };
  const found: unknown = getAt(body, job.parts.path);
  if (typeof found === 'string' && found !== '') return { parts: [found] };
  if (!Array.isArray(found)) {
    if ((found ?? null) === null) return { parts: [] };
    throw new PollError(unexpected(client.subject), 'retry');
  }
  const { id: path = '' } = job.parts;
  return { parts: found.map((part: unknown) => textAt(part, path)).filter((part) => part !== '') };
}

/**
 * Returns the call for a part of a job that is a URL: of the vendor, or of a file on a listed host.
 *
 * @throws PollError if it is on another host
 */
export function partCall(client: PollClient, call: PollCall, part: string): PollCall {
  const own = client.ownUrl(part, call.url);
  if (own) return { ...call, url: own };
  const file = URL.canParse(part) ? new URL(part) : undefined;
  if (file && isDownload(file, call.downloads ?? [])) return { ...call, url: file, file: true };
  const message = `${client.subject.product} returned a link to a file on another origin. It was not followed.`;
  throw new PollError(failed('redirected', message), 'permanent');
}

const textOf = (value: unknown): string => (typeof value === 'boolean' ? String(value) : textAt(value, ''));
