import { randomInt, randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { exampleRecord, RECORD_TYPES } from '@connector-frame/connectors';
import {
  isRecord,
  parseTransform,
  tryCondition,
  tryTransform,
  validateCondition,
  type DataRecord,
  type LogicalCondition,
  type Problem,
} from '@connector-frame/engine';
import { ApiError, invalidRequest } from '../api-error.js';
import type { Principal } from '../auth/principal.js';
import { referrerOf } from '../connectors/referrer.js';
import { organizationRoute, route, type ResponseData, type Route } from '../http/route.js';
import { invalidPipeline, invalidTransform } from '../pipelines/invalid-pipeline.js';
import { TransformConfig } from '../pipelines/transform-config-body.js';
import { referredValues } from '../pipelines/transform-secrets.js';
import { Semaphore } from '../semaphore.js';
import type { RouteContext } from './context.js';
import { Org } from './schemas.js';

/** Maximum number of requests that run a transform at the same time. */
const MAX_CONCURRENT = 2;
const MAX_WAITING = 20;

const BUSY =
  'The sandbox is at capacity, or the database does not respond. Retry after the number of seconds in `Retry-After`.';

const JsonObject = z.record(z.string(), z.unknown()).openapi('JsonObject');
const AnyRecord = z
  .union([JsonObject, z.string(), z.array(z.int().min(0).max(255))])
  .openapi({ description: 'A JSON object; also as JSON text, as base64 of it, or as its bytes.' });

const example = { actor: { email: 'ana@example.com' }, severity: 3 };
const Tried = z.record(z.string(), z.unknown()).openapi({
  anyOf: [{ $ref: '#/components/schemas/ConditionGroup' }, { $ref: '#/components/schemas/Condition' }],
});
const TryCondition = z.object({ condition: Tried, record: AnyRecord }).openapi('TryCondition', {
  example: { condition: { type_id: 'greater_than', config: { key: 'severity', value: 2 } }, record: example },
});
const TryTransform = z.object({ config: TransformConfig, record: AnyRecord }).openapi('TryTransform', {
  example: {
    config: { operations: [{ operation: 'rename_key', arguments: { key: 'actor.email', new_key: 'user' } }] },
    record: example,
  },
});
const TriedTransform = z
  .object({
    records: z.array(JsonObject).openapi({ description: 'The resulting records; none if the record is dropped.' }),
    bytes_before: z.int(),
    bytes_after: z.int(),
    percentage_change: z.number().openapi({ description: 'Negative if the records are smaller.' }),
  })
  .openapi('TriedTransform');
const GenerateRecord = z
  .object({ record_type: z.string().max(100) })
  .openapi('GenerateRecord', { example: { record_type: 'okta-systemlog' } });

const tag = 'Sandbox';
const access = { permission: 'transform:write', session: 'deny' } as const;

/** Routes that run transforms and conditions on one record. They save nothing. */
export function sandboxRoutes(context: RouteContext): Route[] {
  const { clock } = context;
  const slots = new Semaphore(MAX_CONCURRENT);
  let waiting = 0;

  /** Counts a request as a connection test, and limits how many run at the same time. */
  async function bounded(principal: Principal, work: () => Promise<ResponseData>): Promise<ResponseData> {
    await context.limits.consume({ test_key: principal.key.id });
    await context.limits.consume({ test_organization: principal.key.organizationId });
    if (waiting >= MAX_WAITING)
      throw new ApiError(503, 'unavailable', 'The sandbox is at capacity. Retry later.', {
        headers: { 'Retry-After': '5' },
      });
    waiting += 1;
    try {
      return await slots.run(work);
    } finally {
      waiting -= 1;
    }
  }

  /** @param resolveSecret absent outside of an organization */
  async function runTransform(
    body: z.output<typeof TryTransform>,
    signal: AbortSignal,
    resolveSecret?: (id: string) => string | undefined,
  ): Promise<ResponseData> {
    const record = recordIn(body.record);
    const parsed = await parseTransform(body.config, { resolveSecret });
    if (!parsed.ok) throw invalidTransform(prefixed('/config', parsed.problems));
    const options = { now: clock.now(), signal, recordId: `sandbox-${randomUUID()}`, resolveSecret };
    const tried = await tryTransform(parsed.transform, record, options);
    if (!tried) throw new ApiError(503, 'unavailable', 'The request was aborted.');
    if ('rejected' in tried)
      throw invalidRequest('The transform rejects the record.', {
        issues: [{ path: '/record', message: tried.rejected }],
      });
    const before = Buffer.byteLength(JSON.stringify(record));
    const after = tried.lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0);
    const change = Math.round(((after - before) / before) * 10_000) / 100;
    // The records keep the digits of their numbers: they are not parsed again.
    const records = `[${tried.lines.join(',')}]`;
    const sizes = `"bytes_before":${before},"bytes_after":${after},"percentage_change":${change}`;
    return { status: 200, body: `{"records":${records},${sizes}}` };
  }

  const trying = {
    method: 'post',
    tag,
    summary: 'Run a transform on a record; saves nothing',
    description: 'Runs the code that processes records in pipelines, with its limits.',
    access,
    body: TryTransform,
    response: { status: 200, description: 'The resulting records and their size.', schema: TriedTransform },
    errorStatuses: {
      400: 'The record is no object, or the transform rejects it.',
      422: 'An operation or a condition is not valid (`invalid_transform`, with `issues`).',
      503: BUSY,
    },
  } as const;

  return [
    route(
      {
        method: 'post',
        path: '/v2/sandbox/condition',
        tag,
        operation: 'tryCondition',
        summary: 'Evaluate a condition on a record; saves nothing',
        description:
          'Runs the code that decides in pipelines. `condition` is a group with an `operator`, or a single condition with its `type_id`.',
        access,
        body: TryCondition,
        response: {
          status: 200,
          description: 'Whether it holds.',
          schema: z.object({ result: z.boolean() }).openapi('ConditionResult'),
        },
        errorStatuses: {
          400: 'The condition is not valid (`invalid_pipeline`, with `issues`), or the record is no object.',
          503: BUSY,
        },
      },
      ({ principal, body }) =>
        bounded(principal, async () => {
          const record = recordIn(body.record);
          return { status: 200, body: { result: tryCondition(conditionIn(body.condition), record) } };
        }),
    ),
    route(
      {
        method: 'get',
        path: '/v2/sandbox/template',
        tag,
        operation: 'listRecordTypes',
        summary: 'List the types of example records',
        description: 'Values for `record_type` of `POST /v2/sandbox/template`.',
        access: { permission: 'transform:read', session: 'deny' },
        response: {
          status: 200,
          description: 'All types.',
          schema: z.object({ templates: z.array(z.string()) }).openapi('RecordTypeList'),
        },
      },
      () => ({ status: 200, body: { templates: RECORD_TYPES } }),
    ),
    route(
      {
        method: 'post',
        path: '/v2/sandbox/template',
        tag,
        operation: 'generateRecord',
        summary: 'Generate an example record',
        description:
          'A made-up record in the shape of a source, to try a transform on. Each call returns other values.',
        access,
        body: GenerateRecord,
        response: {
          status: 200,
          description: 'The record.',
          schema: z.object({ record: JsonObject }).openapi('GeneratedRecord'),
        },
      },
      ({ body }) => {
        const record = exampleRecord(body.record_type, randomInt(1_000_000), clock.now());
        if (!record) throw invalidRequest('There is no example record of this type. GET this path lists the types.');
        return { status: 200, body: { record } };
      },
    ),
    route({ ...trying, path: '/v2/sandbox/transform', operation: 'tryTransform' }, ({ c, principal, body }) =>
      bounded(principal, () => runTransform(body, c.req.raw.signal)),
    ),
    organizationRoute(
      { ...trying, path: '/v2/{org}/sandbox/transform', operation: 'tryOrganizationTransform', params: Org },
      ({ c, principal, organization, body }) =>
        bounded(principal, async () => {
          const referrer = await referrerOf(context, principal, organization.id);
          const resolveSecret = await referredValues(body.config, context.store, referrer);
          return runTransform(body, c.req.raw.signal, resolveSecret);
        }),
    ),
  ];
}

/**
 * Returns the record in a request.
 * @throws ApiError 400
 */
function recordIn(given: z.output<typeof AnyRecord>): DataRecord {
  const text = Array.isArray(given) ? Buffer.from(given).toString('utf8') : given;
  try {
    const parsed: unknown = typeof text === 'string' ? JSON.parse(textIn(text)) : text;
    if (isRecord(parsed)) return parsed;
  } catch {
    // Falls through to the same message.
  }
  throw invalidRequest('The record is no JSON object.', { issues: [{ path: '/record', message: 'Not an object.' }] });
}

const textIn = (given: string): string =>
  given.trimStart().startsWith('{') ? given : Buffer.from(given, 'base64').toString('utf8');

/**
 * Returns the condition in a request, which may also be a single leaf.
 * @throws ApiError 400
 */
function conditionIn(given: Record<string, unknown>): LogicalCondition {
  const isLeaf = given['type_id'] !== undefined;
  const condition: unknown = isLeaf ? { operator: 'and', conditions: [given] } : given;
  const problems = validateCondition(condition);
  if (problems.length > 0) {
    const shorter = problems.map((problem) => ({
      ...problem,
      path: isLeaf ? problem.path.replace('/conditions/0', '') : problem.path,
    }));
    throw invalidPipeline(prefixed('/condition', shorter));
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- validated above
  return condition as LogicalCondition;
}

const prefixed = (prefix: string, problems: readonly Problem[]): Problem[] =>
  problems.map((problem) => ({ ...problem, path: `${prefix}${problem.path}` }));
