import { z } from '@hono/zod-openapi';
import { ConnectorError, systemClock, tryEnrichment } from '@connector-frame/engine';
import { ApiError, invalidRequest } from '../api-error.js';
import { openPlan } from '../connectors/plan-write.js';
import { createPlanner } from '../connectors/planner.js';
import { organizationRoute, type OrganizationCall, type ResponseData, type Route } from '../http/route.js';
import { AnyRecord, bytesOf, JsonBytes, JsonObject, recordIn } from './any-record.js';
import { countTest } from './connection-tests.js';
import { Config, TEST_ERRORS } from './connector-bodies.js';
import type { RouteContext } from './context.js';
import { Org, TypeId } from './schemas.js';

/** Time limit in milliseconds. */
const TIME_LIMIT = 15_000;

const TryEnrichment = z
  .object({
    type_id: TypeId,
    config: Config,
    record: AnyRecord,
    use_mocked_data: z.boolean().default(false).openapi({
      description: '`true`: nothing is looked up; the record gets an example of what the type returns.',
    }),
  })
  .openapi('TryEnrichment', {
    example: {
      type_id: 'csv-table',
      config: {
        settings: {
          table: { type: 'inline', inline: { csv: 'id,name\nu-1,Ana\n' } },
          key_column: 'id',
          join_path: 'actor.id',
          destination_path: 'user',
        },
      },
      record: { actor: { id: 'u-1' } },
    },
  });
const TriedEnrichment = z
  .object({
    record: JsonBytes,
    record_json: JsonObject.openapi({ description: 'The enriched record.' }),
  })
  .openapi('TriedEnrichment');

const WRONG =
  'The request is malformed, the configuration does not match its type (`invalid_config`, with `issues`), the enrichment rejects the record, or the lookup does not work: `test_failed` with a `reason`, or `egress_refused` for a private address.';

/** Routes that apply an enrichment to one record. They save nothing. */
export function enrichmentSandboxRoutes(context: RouteContext): Route[] {
  return [
    organizationRoute(
      {
        method: 'post',
        path: '/v3/{org}/enrichments/sandbox',
        tag: 'Enrichments',
        operation: 'tryEnrichment',
        summary: 'Apply an enrichment to a record; saves nothing',
        description:
          'Runs the code that enriches records in pipelines. The result may contain entries of key-value tables, so it requires the permission to read records.',
        access: { permission: ['enrichment:write', 'pipeline:data:read'], session: 'deny' },
        params: Org,
        body: TryEnrichment,
        response: { status: 200, description: 'The enriched record.', schema: TriedEnrichment },
        errorStatuses: { ...TEST_ERRORS, 400: WRONG },
      },
      (call) => attempt(context, call),
    ),
  ];
}

async function attempt(
  context: RouteContext,
  { c, principal, organization, body }: OrganizationCall<unknown, unknown, z.output<typeof TryEnrichment>>,
): Promise<ResponseData> {
  const { store, vault: vaults, egress, connectors, lookupsOf } = context;
  const record = recordIn(body.record);
  const planner = createPlanner(context, 'enrichment');
  const type = planner.type(body.type_id);
  await countTest(context, { principal, organization, type });
  const vault = await vaults.ofOrganization(store, organization.id);
  const plan = await planner.plan({ type, ...body.config }, { vault, tables: store, principal, organization });
  const signal = AbortSignal.any([c.req.raw.signal, AbortSignal.timeout(TIME_LIMIT)]);
  try {
    const tools = { type, egress, clock: systemClock, ...lookupsOf(organization.id) };
    const enrichment = connectors(type).createEnrichment?.(openPlan(plan, type), tools);
    if (!enrichment) throw invalidRequest('This release cannot run enrichments of this type.');
    const tried = await tryEnrichment(enrichment, record, { signal, mocked: body.use_mocked_data });
    if ('rejected' in tried) throw rejected(tried.rejected);
    // The digits of numbers stay as they are: the record is not parsed again.
    const bytes = JSON.stringify(bytesOf(tried.line));
    return { status: 200, body: `{"record":${bytes},"record_json":${tried.line}}` };
  } catch (error) {
    if (error instanceof ConnectorError) {
      const details = { reason: error.code };
      throw new ApiError(400, error.code === 'egress_refused' ? 'egress_refused' : 'test_failed', error.message, {
        details,
      });
    }
    if (signal.aborted)
      throw new ApiError(400, 'test_failed', 'The lookup did not end in time.', { details: { reason: 'timeout' } });
    throw error;
  }
}

const rejected = (reason: string): ApiError =>
  invalidRequest('The enrichment rejects the record.', { issues: [{ path: '/record', message: reason }] });
