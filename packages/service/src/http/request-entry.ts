import type { NewLogEntry } from '@connector-frame/engine';
import { nameOf } from '../auth/principal.js';
import type { ChangingRequest } from './observe.js';

/** Returns the log entry of a request. It contains no body, token, query or ID of the path. */
export function requestEntry({ id, method, route, status, principal }: ChangingRequest): NewLogEntry {
  const actor = {
    actor: nameOf(principal),
    ...(principal.type === 'session' && { session: principal.session.id }),
    ...(principal.type === 'user' && { user: principal.user.id }),
  };
  return {
    level: status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info',
    code: 'api_request',
    message: `${method} ${route}: ${status}`,
    details: { method, route, status, request_id: id, ...actor },
  };
}
