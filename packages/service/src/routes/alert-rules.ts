import { randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { CATEGORIES, GRANULARITIES, HOUSES, type RuleIssue, type RuleType } from '../alerts/rule-type.js';
import { ruleTypeOf, ruleTypes } from '../alerts/rule-types.js';
import { ApiError, invalidRequest, notFound } from '../api-error.js';
import { isCurrent, requireMatch, versionTag } from '../http/etag.js';
import { organizationRoute, route, type ResponseData, type Route } from '../http/route.js';
import type { AlertRule } from '../store/store.js';
import { SEVERITIES } from '../store/tables.js';
import type { RouteContext } from './context.js';
import { Id, Name, Org, OrgAndId, PageQuery, Pagination, TypeId } from './schemas.js';

/** Rules per organization. Each costs time at every evaluation. */
const MAX_RULES = 200;
const MAX_PIPELINES = 1_000;

const AlertMeta = z
  .object({
    type_id: TypeId,
    name: z.string(),
    description: z.string(),
    category: z.enum(CATEGORIES),
    granularity: z.enum(GRANULARITIES).openapi({ description: 'What a rule of this type is evaluated for.' }),
    house: z.enum(HOUSES).openapi({ description: 'What a rule of this type is evaluated over.' }),
    config: z.record(z.string(), z.unknown()).openapi({ description: 'JSON Schema of `rule_config`.' }),
    internal: z.literal(false),
    managed_by: z.literal('system'),
    tier: z.int().openapi({ description: 'Always 0: all organizations may use it.' }),
  })
  .openapi('AlertMeta');

const fields = {
  name: Name.openapi({ description: 'Every alert of the rule has it.' }),
  description: z.string().max(2_000).default('').openapi({ description: 'Added to the description of every alert.' }),
  severity: z.enum(SEVERITIES),
  active: z.boolean().default(true).openapi({ description: '`false`: never fires, and ends the alerts of the rule.' }),
  pipeline_ids: z.array(Id).max(MAX_PIPELINES).default([]).openapi({
    description: 'The pipelines that the rule is about. Empty: all, also later ones. No effect on a rule about costs.',
  }),
  invert_selection: z
    .boolean()
    .default(false)
    .openapi({ description: '`true`: all pipelines except `pipeline_ids`. No effect if that is empty.' }),
  rule_config: z.record(z.string(), z.unknown()).openapi({
    description: '`{ settings }`. `GET /v3/alert_rules/{type_id}` returns the JSON Schema.',
  }),
};
const example = {
  name: 'Errors',
  severity: 'high' as const,
  rule_config: {
    settings: {
      metric_config: { type: 'errors', errors: { threshold: 0 } },
      operator: 'greater_than',
      time_window: '1m',
    },
  },
};

const CreateAlertRule = z
  .object({ ...fields, type: TypeId.openapi({ description: 'Can’t be changed later.' }) })
  .openapi('CreateAlertRule', { example: { ...example, type: 'threshold-alert' } });
const ReplaceAlertRule = z
  .object({ ...fields, type: TypeId.optional().openapi({ description: 'The type of the rule, or absent.' }) })
  .openapi('ReplaceAlertRule', { example });

const AlertRuleBody = z
  .object({
    id: z.string(),
    organization_id: z.string(),
    name: z.string(),
    description: z.string(),
    type: z.string(),
    severity: z.enum(SEVERITIES),
    active: z.boolean(),
    pipeline_ids: z.array(z.string()),
    invert_selection: z.boolean(),
    rule_config: z.record(z.string(), z.unknown()).openapi({ description: 'As it was given.' }),
    managed_by: z.literal('customer'),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .openapi('AlertRule');
const AlertRuleList = z
  .object({ alert_rules: z.array(AlertRuleBody), pagination: Pagination })
  .openapi('AlertRuleList');

/** Causes of 400. */
const WRONG_RULE = 'The request is malformed, or `additional_details.issues` names the fields of the rule.';

type Given = z.output<typeof CreateAlertRule> | z.output<typeof ReplaceAlertRule>;

/** Routes for the rules by which the engine raises alerts. */
export function alertRuleRoutes({ store, engine, clock }: RouteContext): Route[] {
  const tag = 'Alerts';
  const path = '/v3/{org}/alert_rules';
  const read = { permission: 'alert_rule:read', session: 'deny' } as const;
  const write = { permission: 'alert_rule:write', session: 'deny' } as const;

  /**
   * Checks what the schema can't.
   * @param before the rule that is replaced; it may keep pipelines that were deleted
   * @throws ApiError 400 that names the fields
   */
  async function check(organizationId: string, type: string, given: Given, before?: AlertRule): Promise<void> {
    const parsed = ruleTypeOf(type)?.parse(given.rule_config);
    const issues: RuleIssue[] = [];
    if (!parsed)
      issues.push({ path: '/type', message: `Must be one of ${ruleTypes.map(({ typeId }) => typeId).join(', ')}.` });
    else if (!parsed.ok) issues.push(...parsed.issues);
    if (given.pipeline_ids.length > 0) {
      const known = new Set([...(await store.pipelines.ids(organizationId)), ...(before?.pipelineIds ?? [])]);
      for (const [index, id] of given.pipeline_ids.entries())
        if (!known.has(id))
          issues.push({ path: `/pipeline_ids/${index}`, message: 'The organization has no such pipeline.' });
    }
    if (issues.length > 0) throw invalidRequest('The alert rule is not valid.', { issues: issues.slice(0, 20) });
  }

  return [
    route(
      {
        method: 'get',
        path: '/v3/alert_rules',
        tag,
        operation: 'listAlertRuleTypes',
        summary: 'List the types of alert rules',
        description: 'The same for every organization. `config` is the JSON Schema of `rule_config`.',
        access: read,
        response: { status: 200, description: 'All types.', schema: z.array(AlertMeta) },
      },
      () => ({ status: 200, body: ruleTypes.map(presentType) }),
    ),

    route(
      {
        method: 'get',
        path: '/v3/alert_rules/{type_id}',
        tag,
        operation: 'readAlertRuleType',
        summary: 'Read a type of alert rules',
        description: 'With the JSON Schema of the `rule_config` of its rules.',
        access: read,
        params: z.object({ type_id: TypeId }),
        response: { status: 200, description: 'The type.', schema: AlertMeta },
      },
      ({ params }) => {
        const type = ruleTypeOf(params.type_id);
        if (!type) throw notFound();
        return { status: 200, body: presentType(type) };
      },
    ),

    organizationRoute(
      {
        method: 'get',
        path,
        tag,
        operation: 'listAlertRules',
        summary: 'List the alert rules of an organization',
        description: 'Also those that are not active.',
        access: read,
        params: Org,
        query: PageQuery,
        response: {
          status: 200,
          description: 'Oldest first.',
          schema: AlertRuleList,
        },
      },
      async ({ organization, query }) => {
        const { rows, total } = await store.alertRules.list(organization.id, query);
        return { status: 200, body: { alert_rules: rows.map(present), pagination: { ...query, total } } };
      },
    ),

    organizationRoute(
      {
        method: 'post',
        path,
        tag,
        operation: 'createAlertRule',
        summary: 'Create an alert rule',
        description: 'The engine evaluates it from its next evaluation on, at most ten seconds later.',
        access: write,
        params: Org,
        body: CreateAlertRule,
        idempotent: true,
        etag: true,
        response: { status: 201, description: 'The rule.', schema: AlertRuleBody },
        errorStatuses: { 400: WRONG_RULE, 409: `The organization has ${MAX_RULES} alert rules, the maximum.` },
      },
      async ({ organization, body, commit }) => {
        await check(organization.id, body.type, body);
        const now = new Date(clock.now());
        const rule: AlertRule = {
          id: randomUUID(),
          organizationId: organization.id,
          ...columnsOf(body),
          type: body.type,
          version: 1,
          createdAt: now,
          updatedAt: now,
        };
        const response = await commit(async ({ alertRules }) => {
          if ((await alertRules.count(organization.id)) >= MAX_RULES)
            throw new ApiError(409, 'conflict', `An organization may have ${MAX_RULES} alert rules. Delete one first.`);
          await alertRules.insert(rule);
          return saved(rule, 201);
        });
        engine.rulesChanged();
        return response;
      },
    ),

    organizationRoute(
      {
        method: 'get',
        path: `${path}/{id}`,
        tag,
        operation: 'readAlertRule',
        summary: 'Read an alert rule',
        description: 'Send its ETag as `If-Match` with a change.',
        access: read,
        params: OrgAndId,
        etag: true,
        response: { status: 200, description: 'The rule.', schema: AlertRuleBody },
      },
      async ({ c, organization, params }) => {
        const rule = await store.alertRules.get(organization.id, params.id);
        if (!rule) throw notFound();
        const headers = { ETag: versionTag(rule.version) };
        if (isCurrent(c.req.header('if-none-match'), headers.ETag)) return { status: 304, headers };
        return { status: 200, body: present(rule), headers };
      },
    ),

    organizationRoute(
      {
        method: 'put',
        path: `${path}/{id}`,
        tag,
        operation: 'replaceAlertRule',
        summary: 'Replace an alert rule',
        description:
          'Absent properties get their defaults. An alert that is firing goes on with the new configuration, and ends if the rule no longer selects its pipeline.',
        access: write,
        params: OrgAndId,
        body: ReplaceAlertRule,
        idempotent: true,
        conditional: true,
        etag: true,
        response: { status: 200, description: 'The replaced rule.', schema: AlertRuleBody },
        errorStatuses: { 400: WRONG_RULE },
      },
      async ({ c, organization, params, body, commit }) => {
        const known = await store.alertRules.get(organization.id, params.id);
        if (!known) throw notFound();
        if (body.type !== undefined && body.type !== known.type) {
          const issues = [{ path: '/type', message: 'The type of a rule can’t be changed. Create another rule.' }];
          throw invalidRequest('The alert rule is not valid.', { issues });
        }
        await check(organization.id, known.type, body, known);
        const response = await commit(async ({ alertRules }) => {
          const before = await alertRules.lock(organization.id, params.id);
          if (!before) throw notFound();
          requireMatch(c.req.header('if-match'), versionTag(before.version));
          const rule: AlertRule = {
            ...before,
            ...columnsOf(body),
            version: before.version + 1,
            updatedAt: new Date(clock.now()),
          };
          await alertRules.update(rule);
          return saved(rule, 200);
        });
        engine.rulesChanged();
        return response;
      },
    ),

    organizationRoute(
      {
        method: 'delete',
        path: `${path}/{id}`,
        tag,
        operation: 'deleteAlertRule',
        summary: 'Delete an alert rule',
        description: 'Its alerts that are firing are resolved at the next evaluation.',
        access: { permission: 'alert_rule:delete', session: 'deny' },
        params: OrgAndId,
        conditional: true,
        response: { status: 204, description: 'Deleted.' },
      },
      async ({ c, organization, params, commit }) => {
        const response = await commit(async ({ alertRules }) => {
          const rule = await alertRules.lock(organization.id, params.id);
          if (!rule) throw notFound();
          requireMatch(c.req.header('if-match'), versionTag(rule.version));
          await alertRules.remove(rule.id);
          return { status: 204 };
        });
        engine.rulesChanged();
        return response;
      },
    ),
  ];
}

const presentType = ({ typeId, name, description, category, granularity, house, config }: RuleType) => ({
  type_id: typeId,
  name,
  description,
  category,
  granularity,
  house,
  config,
  internal: false,
  managed_by: 'system',
  tier: 0,
});

const columnsOf = (given: Given) => ({
  name: given.name,
  description: given.description,
  severity: given.severity,
  active: given.active,
  pipelineIds: [...new Set(given.pipeline_ids)],
  invertSelection: given.invert_selection,
  ruleConfig: given.rule_config,
});

const present = (rule: AlertRule): z.output<typeof AlertRuleBody> => ({
  id: rule.id,
  organization_id: rule.organizationId,
  name: rule.name,
  description: rule.description,
  type: rule.type,
  severity: rule.severity,
  active: rule.active,
  pipeline_ids: rule.pipelineIds,
  invert_selection: rule.invertSelection,
  rule_config: rule.ruleConfig,
  managed_by: 'customer',
  created_at: rule.createdAt.toISOString(),
  updated_at: rule.updatedAt.toISOString(),
});

const saved = (rule: AlertRule, status: 200 | 201): ResponseData => ({
  status,
  body: present(rule),
  headers: { ETag: versionTag(rule.version) },
});
