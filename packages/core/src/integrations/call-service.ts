import type { IntegrationScope, PipelineStatus } from '../lifecycle.js';

/**
 * A pipeline in a list, in a connector, or in detail. Services may omit fields, and send `null` for
 * an empty list and `""` for an ID that the row doesn't have.
 */
interface PipelineRow {
  id: string;
  enabled?: boolean;
  input_id?: string | null;
  output_ids?: string[] | null;
  nodes?: { component_id: string; component_type: string }[] | null;
}

/** Fields of the responses. */
interface ServiceResponse extends PipelineRow {
  component_of?: PipelineRow[] | null;
  pipelines: PipelineRow[] | null;
  pipeline_id: string;
  output_id: string;
  /** The status, or an object that has it. */
  status?: PipelineStatus | { status?: PipelineStatus };
}

/**
 * Sends a request to `/v<version>/{org}/<path>`: `GET`, or `POST` with a body.
 *
 * @param otherwise provides the result for errors with one of `statuses`; `Object` provides an
 *   empty one
 * @param statuses default: 404 and 405, the statuses of a route that the service does not have
 * @returns the response's JSON, or an empty object
 */
export async function callService(
  { request, org, signal }: IntegrationScope,
  version: 1 | 2,
  path: string,
  body?: object,
  otherwise?: () => ServiceResponse | Promise<ServiceResponse>,
  method = body ? 'POST' : 'GET',
  statuses = /^40[45]/,
): Promise<ServiceResponse> {
  // Not every request function observes the signal.
  signal?.throwIfAborted();
  try {
    // Makes retries by the request function safe, on the routes that support it.
    const headers = path.startsWith('int') ? { 'Idempotency-Key': '' + Math.random() } : {};
    const init = { method, headers, signal: signal ?? null, body: JSON.stringify(body) };
    return Object(await request('/v' + version + '/' + segment(org) + '/' + path, init));
  } catch (error) {
    // Request functions report the status in a field, or at the start of the message.
    const { status, message } = Object(error);
    if (otherwise && statuses.test(status ?? message)) return otherwise();
    throw error;
  }
}

/**
 * Encodes an ID for a path. Rejects IDs that would change the path: `DELETE /pipelines/..` would
 * address something else.
 */
export function segment(id: string): string {
  // `undefined`: the service returned no ID.
  if (/^(\.*|undefined)$/.test(id)) throw new TypeError('Not an ID: ' + id);
  return encodeURIComponent(id);
}
