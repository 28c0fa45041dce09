import { EgressError, type Egress, type EgressInit } from '../../egress/index.js';
import { EndError } from '../../runner/ends.js';
import { egressFailure } from './failures.js';

/** Milliseconds for one request of an output, which may carry half a megabyte to a busy server. */
const TIMEOUT_MS = 30_000;
/** Of what a server says about a batch; what it says beyond does not matter. */
const MAX_ANSWER = 64 * 1024;

/** What came back, all of it. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

export interface Sending extends Pick<EgressInit, 'headers' | 'body' | 'verifyTls' | 'ca' | 'maxBytes'> {
  url: string;
  /** Default `POST`. */
  method?: string;
  /** As a sentence names it: `Splunk`, `the server`. */
  product: string;
}

/**
 * One request of an output, and its answer to the end: what breaks off in the middle was no answer. Records may come
 * twice anyway, so it may be sent again when a connection that was kept turns out to be gone.
 * @throws EndError, or the reason of `signal`
 */
export async function send(
  egress: Egress,
  { url, method = 'POST', product, maxBytes = MAX_ANSWER, ...init }: Sending,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    const response = await egress.fetch(url, {
      ...init,
      method,
      signal,
      maxBytes,
      longer: 'cut',
      timeoutMs: TIMEOUT_MS,
      repeatable: true,
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  } catch (error) {
    if (error instanceof EgressError) throw egressFailure(error.reason, product);
    throw error;
  }
}

/** A batch that can't be written because of its connector's fields. */
export function invalidConfig(message: string): EndError {
  return new EndError('invalid_config', message, 'permanent');
}
