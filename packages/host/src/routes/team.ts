import { text } from '../fields.js';
import { HostError } from '../host-error.js';
import { json, readJson } from '../json.js';
import { isRecord } from '../is-record.js';
import type { Route, RouteTools } from '../route.js';

/** `POST /team`: creates a team organization for a new tenant. Exists only with `authorizeTeam`. */
export function teamRoute<Context>({ options, service }: RouteTools<Context>): Route<Context> {
  return {
    method: 'POST',
    async answer({ request, context }) {
      const name = text(await readJson(request), 'name');
      if ((await options.authorizeTeam?.(request, name, context)) !== true) {
        throw new HostError('forbidden', 'You may not create a team.');
      }
      const parent = encodeURIComponent(options.parentOrganizationId ?? '');
      const answer = await service(`/v3/${parent}/organizations`, { method: 'POST', body: JSON.stringify({ name }) });
      const id = isRecord(answer) ? answer['id'] : undefined;
      if (typeof id !== 'string' || id === '') {
        throw new HostError('upstream_error', 'The service answered in an unknown shape.');
      }
      await options.onTeamCreated?.({ id, name }, request, context);
      return json({ id }, { status: 201 });
    },
  };
}
