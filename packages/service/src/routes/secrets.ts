import { randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { ApiError, forbidden, invalidRequest, notFound } from '../api-error.js';
import { changeOwnSecret } from '../connectors/change-own-secret.js';
import { changeSecret, namesOf } from '../connectors/change-secret.js';
import { DestinationList, readDestinations } from '../connectors/destination-list.js';
import {
  FullSecret,
  presentFull,
  presentSecret,
  presentUses,
  SecretBody,
  SecretWithUses,
} from '../connectors/present-secret.js';
import { requireRealValue, SecretText } from '../connectors/secret-write.js';
import { sharesOf } from '../connectors/share-details.js';
import { listedDestination } from '../secrets/listed-destination.js';
import { openSecrets } from '../secrets/open-secrets.js';
import { sealShared } from '../secrets/references.js';
import { organizationRoute, type OrganizationCall, type ResponseData, type Route } from '../http/route.js';
import { notifyEngine } from '../pipelines/notify-engine.js';
import type { ListedSecret, OrganizationSecret, ReadTables, StoredSecret } from '../store/store.js';
import type { RouteContext } from './context.js';
import { Name, Org, OrgAndId, PageQuery, Pagination } from './schemas.js';

const Description = z.string().max(2_000);
const destinations = DestinationList.nullable().optional().openapi({
  description:
    'Where the secret may be sent: connector types with their address, or `{ "kind": "transform" }`. Null or absent: components that refer to it add their destination, if the caller has the permission `secrets:write`. Only a write with the value can add destinations to a list.',
});

const CreateSecret = z
  .object({ name: Name, description: Description.default(''), value: SecretText, destinations })
  .openapi('CreateSecret', {
    example: {
      name: 'Okta API token',
      value: 'your-token',
      destinations: [{ kind: 'input', type: 'okta-systemlog', settings: { org_url: 'https://acme.okta.com' } }],
    },
  });

const ChangeSecret = z
  .object({ name: Name.optional(), description: Description.optional(), value: SecretText.optional(), destinations })
  .openapi('ChangeSecret', { example: { value: 'your-new-token' } });

const tag = 'Secrets';
const path = '/v2/{org}/secrets';
const read = { permission: 'secrets:read', session: 'deny' } as const;
const write = { permission: 'secrets:write', session: 'deny' } as const;

/** Routes for the secrets of an organization: those that connectors share, and their own. */
export function secretRoutes(context: RouteContext): Route[] {
  const { store } = context;
  return [
    organizationRoute(
      {
        method: 'get',
        path,
        tag,
        operation: 'listSecrets',
        summary: 'List the secrets of an organization and the connectors that use them',
        description:
          'No response contains a value. `inputs`, `outputs` and `transforms` are the components that use a secret, running or not.',
        access: read,
        params: Org,
        query: PageQuery,
        response: {
          status: 200,
          description:
            'Oldest first. Secrets that were entered in a connector, and those that the parent shares, are included.',
          schema: z.object({ secrets: z.array(SecretWithUses), pagination: Pagination }).openapi('SecretList'),
        },
      },
      async ({ organization, query }) => {
        const { rows, total } = await store.organizationSecrets.list(organization.id, query);
        const ids = rows.map(({ id }) => id);
        const uses = await store.organizationSecrets.uses(organization.id, ids);
        const shares = await sharesOf(store, organization, 'secret', rows);
        const secrets = rows.map((row) => ({ ...presentSecret(row, shares(row)), ...presentUses(uses, row.id) }));
        return { status: 200, body: { secrets, pagination: { ...query, total } } };
      },
    ),

    organizationRoute(
      {
        method: 'post',
        path,
        tag,
        operation: 'createSecret',
        summary: 'Create a secret that connectors can refer to by its id',
        description:
          'Refer to it as `{ "id": ... }` in `config.secrets` of connectors, and rotate it once for all of them. `destinations` limits where it may be sent.',
        access: write,
        params: Org,
        body: CreateSecret,
        idempotent: true,
        response: { status: 201, description: 'The secret, without its value.', schema: SecretBody },
      },
      (call) => create(context, call),
    ),

    organizationRoute(
      {
        method: 'get',
        path: `${path}/{id}`,
        tag,
        operation: 'readSecret',
        summary: 'Read a secret, without its value',
        description: '`destinations` are the connector types, with their addresses, that it may be sent to.',
        access: read,
        params: OrgAndId,
        response: { status: 200, description: 'The secret.', schema: FullSecret },
      },
      async ({ organization, params }) => {
        const secret = await find(context, organization.id, params.id);
        const uses = await store.organizationSecrets.uses(organization.id, [secret.id]);
        const shares = await sharesOf(store, organization, 'secret', [secret]);
        return { status: 200, body: presentFull(secret, uses, shares(secret)) };
      },
    ),

    organizationRoute(
      {
        method: 'patch',
        path: `${path}/{id}`,
        tag,
        operation: 'changeSecret',
        summary: 'Rotate or rename a secret for all connectors that use it; absent properties are kept',
        description: 'Pipelines that run go on with the new value within seconds.',
        access: write,
        params: OrgAndId,
        body: ChangeSecret,
        idempotent: true,
        response: { status: 200, description: 'The secret, without its value.', schema: SecretBody },
        errorStatuses: {
          409: 'The list lacks a destination at which a component uses it, or a component began to use it at the same time.',
          400: 'The request is malformed, or the value does not suit a component that uses it (`invalid_config`).',
          422: 'New destinations require the value (`secret_reentry_required`), or the stored value cannot be read (`secret_unreadable`).',
        },
      },
      (call) => change(context, call),
    ),

    organizationRoute(
      {
        method: 'delete',
        path: `${path}/{id}`,
        tag,
        operation: 'deleteSecret',
        summary: 'Delete a secret that nothing uses',
        description: 'The secret of a single connector can be deleted only with this connector.',
        access: { permission: 'secrets:delete', session: 'deny' },
        params: OrgAndId,
        response: { status: 204, description: 'Deleted.' },
        errorStatuses: { 409: 'Components still use it; `additional_details` names them.' },
      },
      ({ organization, params, commit }) =>
        commit(async (tables) => {
          const secret = await tables.organizationSecrets.lock(organization.id, params.id);
          const own = secret ? undefined : await tables.secrets.get(organization.id, params.id);
          if (!secret && !own) throw await notOwned(tables, organization.id, params.id);
          // The lock keeps other transactions from referring to it.
          const uses = secret
            ? await tables.organizationSecrets.allUses(organization.id, params.id)
            : await tables.organizationSecrets.uses(organization.id, [params.id]);
          if (uses.length > 0)
            throw new ApiError(409, 'conflict', 'Components still use this secret.', { details: namesOf(uses) });
          await tables.organizationSecrets.remove(params.id);
          return { status: 204 };
        }),
    ),
  ];
}

const ofAnother = (): ApiError =>
  forbidden('Another organization shares this secret. Only its owner can change or delete it.');

/** Creates the error for a secret that the organization does not own. */
const notOwned = async (tables: ReadTables, organizationId: string, id: string): Promise<ApiError> =>
  (await tables.organizationSecrets.usable(organizationId, id)) ? ofAnother() : notFound();

async function create(
  { store, vault: vaults, catalog, clock }: RouteContext,
  { organization, body, commit }: OrganizationCall<unknown, unknown, z.output<typeof CreateSecret>>,
): Promise<ResponseData> {
  requireRealValue(body.value);
  const vault = await vaults.ofOrganization(store, organization.id);
  const now = new Date(clock.now());
  const place = {
    id: randomUUID(),
    destinations: body.destinations ? readDestinations(body.destinations, catalog, vault) : [],
    restricted: Boolean(body.destinations),
  };
  const secret: OrganizationSecret = {
    ...place,
    organizationId: organization.id,
    name: body.name,
    description: body.description,
    keyId: vault.keyId,
    sealed: sealShared(place, body.value, vault),
    version: 1,
    createdAt: now,
    updatedAt: now,
  };
  return commit(async (tables) => {
    await tables.organizationSecrets.insert(secret);
    return { status: 201, body: presentSecret(secret) };
  });
}

async function change(
  context: RouteContext,
  { organization, params, body, commit }: OrganizationCall<{ id: string }, unknown, z.output<typeof ChangeSecret>>,
): Promise<ResponseData> {
  const { store, catalog, clock } = context;
  if (body.value !== undefined) requireRealValue(body.value);
  const vault = await context.vault.ofOrganization(store, organization.id);
  const list = body.destinations && readDestinations(body.destinations, catalog, vault);
  let applyTo: string[] = [];
  const response = await commit(async (tables) => {
    const vaultOf = (id: string) => context.vault.ofOrganization(tables, id);
    const tools = { tables, vault, vaultOf, catalog, now: new Date(clock.now()) };
    if (await tables.organizationSecrets.get(organization.id, params.id)) {
      const changed = await changeSecret(organization.id, params.id, { ...body, destinations: list }, tools);
      applyTo = changed.applyTo;
      const shares = await sharesOf(tables, organization, 'secret', [changed.secret]);
      return { status: 200, body: presentSecret(changed.secret, shares(changed.secret)) };
    }
    if (await tables.organizationSecrets.usable(organization.id, params.id)) throw ofAnother();
    if (body.destinations !== undefined)
      throw invalidRequest('This secret belongs to one connector and goes where that connector goes.');
    const { secret, connector } = await changeOwnSecret(organization.id, params.id, body, tools);
    applyTo = [connector.id];
    return { status: 200, body: presentSecret(secret) };
  });
  for (const id of applyTo) await notifyEngine(context, id);
  return response;
}

/**
 * Returns a secret of the organization, of one of its connectors, or one that is shared with it.
 * @throws ApiError 404
 */
async function find(
  context: RouteContext,
  organizationId: string,
  id: string,
): Promise<Omit<ListedSecret, 'connectorId'> & Pick<OrganizationSecret, 'destinations' | 'restricted'>> {
  const secret = await context.store.organizationSecrets.usable(organizationId, id);
  if (secret) return secret;
  const own = await context.store.secrets.get(organizationId, id);
  if (!own) throw notFound();
  return { ...own, ...(await ownDestination(context, own)) };
}

/** Returns the one destination of a secret that belongs to a connector. */
async function ownDestination(
  { store, vault: vaults, catalog }: RouteContext,
  { organizationId, connectorId }: StoredSecret,
): Promise<Pick<OrganizationSecret, 'destinations' | 'restricted'>> {
  const found = await store.connectors.withSecrets(organizationId, connectorId);
  const type = found && catalog.get(found.connector.kind, found.connector.type);
  if (!type) return { destinations: [], restricted: true };
  const vault = await vaults.ofOrganization(store, organizationId);
  const { marked } = openSecrets(type, found.connector.settings, found.secrets, vault);
  return { destinations: [listedDestination(type, found.connector.settings, marked, vault)], restricted: true };
}
