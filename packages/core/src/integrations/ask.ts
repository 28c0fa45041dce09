import type { IntegrationScope, PipelineStatus } from '../lifecycle.js';

/** A pipeline in a list, in a connector, or in detail. A service may leave out what it likes. */
interface PipelineRow {
  id: string;
  enabled: boolean;
  input_id?: string | null;
  output_ids?: string[];
  nodes?: { component_id: string; component_type: string }[];
}

/** What answers may hold. */
interface Answer extends PipelineRow {
  component_of?: PipelineRow[] | null;
  pipelines: PipelineRow[];
  pipeline_id: string;
  output_id: string;
  status?: PipelineStatus;
}

/**
 * One request to `/v<version>/{org}/<path>`: `GET`, or `POST` with a body. Answers its body, as an object even if it is none.
 * After one of `statuses` (by default those of an address that the service does not have) `otherwise` answers; `Object` then
 * answers an object without fields.
 */
export async function ask(
  { request, org, signal }: IntegrationScope,
  version: 1 | 2,
  path: string,
  body?: object,
  otherwise?: () => Answer | Promise<Answer>,
  method = body ? 'POST' : 'GET',
  statuses = /^40[45]/,
): Promise<Answer> {
  // Whatever the request function does with the signal, nothing is asked after an abort.
  signal?.throwIfAborted();
  try {
    // What only our service has may be sent again by the request function, and happens once.
    const headers = path.startsWith('int') ? { 'Idempotency-Key': '' + Math.random() } : {};
    const init = { method, headers, signal: signal ?? null, body: JSON.stringify(body) };
    return Object(await request('/v' + version + '/' + segment(org) + '/' + path, init));
  } catch (error) {
    // Request functions tell the status in a field, or begin the message with it.
    const { status, message } = Object(error);
    if (otherwise && statuses.test(status ?? message)) return otherwise();
    throw error;
  }
}

/** An id, as it stands in a path. One that would climb out of it is refused: `DELETE /pipelines/..` names something else. */
export function segment(id: string): string {
  // `undefined` is what a service answered that gave no id.
  if (/^(\.*|undefined)$/.test(id)) throw new TypeError('Not an id: ' + id);
  return encodeURIComponent(id);
}
