import type { IngestAddress, TestEventResult } from '../../pages/shared/pipelines/shapes.js';
import { countOf, fieldsOf, textOf, type Fields } from './read.js';
import { HttpError } from './http-error.js';
import { nullIfNotFound, type Scope } from './scope.js';

/** Timeout of a test event in milliseconds. */
const timeout = 10_000;

/**
 * Returns where an input receives pushed records, without the token. Resolves to `null` for an
 * input that fetches its records itself.
 */
export async function ingestAddress(scope: Scope, id: string): Promise<IngestAddress | null> {
  const ingest = await ingestOf(scope, id);
  const [url, host, port] = [textOf(ingest['url']), textOf(ingest['host']), countOf(ingest['port'])];
  if (url === null) return null;
  return { url, listens: host === null ? null : { host, port }, hasToken: textOf(ingest['token']) !== null };
}

/** Returns the ingest token of an input to its own tenant. */
export async function ingestToken(scope: Scope, id: string): Promise<{ token: string }> {
  const token = textOf((await ingestOf(scope, id))['token']);
  if (token === null) throw new HttpError(404, 'not_found', 'This connection has no token.');
  return { token };
}

/** Messages for the status codes of the service's ingest endpoint. */
const ingestErrors: Readonly<Record<number, string>> = {
  409: 'This connection has no pipeline yet.',
  429: 'The buffer is full. Try again in a moment.',
  503: 'The service is not accepting events right now. Try again in a moment.',
};

/** Sends one event to an input of type `monad-http` over its public ingest URL. */
export async function sendTestEvent(scope: Scope, id: string): Promise<TestEventResult> {
  const ingest = await ingestOf(scope, id);
  const [url, token] = [textOf(ingest['url']), textOf(ingest['token'])];
  if (url === null || token === null) throw new HttpError(404, 'not_found', 'This connection takes no events in.');
  const event = { message: 'A test event from Northwind Security', time: new Date().toISOString(), test: true };
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(event),
    signal: AbortSignal.timeout(timeout),
  }).catch((): null => null);
  await response?.body?.cancel();
  if (response?.ok) return { event };
  const why = ingestErrors[response?.status ?? 0] ?? 'The event was not accepted.';
  throw new HttpError(502, 'upstream_error', why);
}

async function ingestOf({ request, org }: Scope, id: string): Promise<Fields> {
  const input = await request(`/v1/${encodeURIComponent(org)}/inputs/${encodeURIComponent(id)}`).catch(nullIfNotFound);
  if (input === null) throw new HttpError(404, 'not_found', 'There is no such input.');
  return fieldsOf(fieldsOf(input)['ingest']);
}
