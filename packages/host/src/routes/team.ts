import { text } from '../fields.js';
import { HostError } from '../host-error.js';
import { json, readJson } from '../json.js';
import { isRecord } from '../is-record.js';
import type { Route, RouteTools } from '../route.js';

/** `POST /team`: creates an organization for a new tenant. Exists only with `authorizeTeam`. */
export function teamRoute<Context>({ options, service }: RouteTools<Context>): Route<Context> {
  return {
    method: 'POST',
    async handle({ request, context }) {
      const name = text(await readJson(request), 'name');
      if ((await options.authorizeTeam?.(request, name, context)) !== true) {
        throw new HostError('forbidden', 'You may not create a team.');
      }
      const parent = encodeURIComponent(options.parentOrganizationId ?? '');
      const body = await service(`/v3/${parent}/organizations`, { method: 'POST', body: JSON.stringify({ name }) });
      const id = isRecord(body) ? body['id'] : undefined;
      if (typeof id !== 'string' || id === '') {
        throw new HostError('upstream_error', 'The service sent an unexpected response.');
      }
      await options.onTeamCreated?.({ id, name }, request, context);
      return json({ id }, { status: 201 });
    },
  };
}
