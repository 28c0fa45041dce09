import { isRecord } from '@connector-frame/engine/connector-api';
import type { Outgoing } from '../signing.js';

/** Adds credentials to the body of a request: fields of a form, or properties of a JSON object. */
export function addBodyFields(request: Outgoing, fields: readonly [name: string, value: string][]): void {
  if (fields.length === 0 || typeof request.body === 'object') return;
  if (request.method === 'GET' && request.body === undefined) return;
  if (request.headers.get('content-type')?.startsWith('application/x-www-form-urlencoded')) {
    const form = new URLSearchParams(request.body);
    for (const [name, value] of fields) form.set(name, value);
    request.body = form.toString();
    return;
  }
  const body: unknown = request.body === undefined ? {} : JSON.parse(request.body);
  if (!isRecord(body)) return;
  request.headers.set('content-type', 'application/json');
  request.body = JSON.stringify({ ...body, ...Object.fromEntries(fields) });
}
