import { randomUUID } from 'node:crypto';
import { z } from '@hono/zod-openapi';
import { invalidRequest, notFound } from '../api-error.js';
import { organizationOf } from '../auth/principal.js';
import { definitionOf, features, type Feature } from '../features/features.js';
import type { FlagState } from '../features/feature-flags.js';
import { route, type Commit, type ResponseData, type Route } from '../http/route.js';
import type { FeatureSubject } from '../store/feature-overrides.js';
import type { RouteContext } from './context.js';
import { Id } from './schemas.js';

/** Organizations in one response; callers with more ask for one. */
const MAX_ORGANIZATIONS = 1_000;

const Flag = z
  .object({
    FeatureID: z.int(),
    FeatureName: z.string().openapi({ description: features.map((name) => `\`${name}\``).join(', ') }),
    Enabled: z.boolean(),
    IsDefault: z.boolean().openapi({ description: 'False if the operator overrides it here.' }),
    Value: z.boolean().openapi({ description: 'The same as `Enabled`.' }),
  })
  .openapi('FeatureFlag');

const Override = z
  .object({
    feature: z.string(),
    organization_id: z.string().optional(),
    user_id: z.string().optional(),
    enabled: z.boolean(),
  })
  .openapi('FeatureOverride');

const FeatureAndId = z.object({
  feature: z.enum(features).openapi({ description: 'Name of the feature.' }),
  id: Id,
});
const Body = z.object({ enabled: z.boolean() }).openapi('OverrideFeature', { example: { enabled: false } });

/** What differs between overrides for organizations and for users. */
interface OverrideRoutes {
  /** Segment of the path before the ID. */
  path: string;
  what: string;
  override: { operation: string; note: string };
  reset: { operation: string; summary: string };
  subjectOf: (id: string) => FeatureSubject;
  exists: (id: string) => Promise<boolean>;
}

/** Routes for what the operator switches on and off. */
export function featureFlagRoutes({ store, flags, clock }: RouteContext): Route[] {
  const tag = 'Feature flags';
  const operator = { permission: 'organization:write', session: 'deny', operator: true } as const;

  /** Stores an override. @throws ApiError 400 if it would have no effect */
  async function put(
    commit: Commit,
    feature: Feature,
    subject: FeatureSubject,
    enabled: boolean,
  ): Promise<ResponseData> {
    const scope = 'userId' in subject ? 'user' : 'organization';
    const { scopes, requires } = definitionOf(feature);
    if (!scopes.includes(scope)) throw invalidRequest(`${feature} cannot be overridden for one ${scope}.`);
    if (enabled && requires !== undefined && !flags.defaults[feature]) {
      throw invalidRequest(`${feature} cannot be switched on: ${requires} is not set.`);
    }
    const response = await commit(async (tables) => {
      const before = await tables.featureOverrides.lock(feature, subject);
      const now = new Date(clock.now());
      await tables.featureOverrides.put({
        id: before?.id ?? randomUUID(),
        feature,
        organizationId: 'organizationId' in subject ? subject.organizationId : null,
        userId: 'userId' in subject ? subject.userId : null,
        enabled,
        createdAt: before?.createdAt ?? now,
        updatedAt: now,
      });
      return { status: 200, body: presentOverride(feature, subject, enabled) };
    });
    flags.forget();
    return response;
  }

  async function remove(commit: Commit, feature: Feature, subject: FeatureSubject): Promise<ResponseData> {
    const response = await commit(async (tables) => {
      const before = await tables.featureOverrides.lock(feature, subject);
      if (before) await tables.featureOverrides.remove(before);
      return { status: 204 };
    });
    flags.forget();
    return response;
  }

  /** Returns the routes that set and remove overrides for one kind of subject. */
  function overrideRoutes({ path, what, override, reset, subjectOf, exists }: OverrideRoutes): Route[] {
    const shared = { path: `/v3/feature_flags/{feature}/${path}/{id}`, tag, access: operator, params: FeatureAndId };
    return [
      route(
        {
          ...shared,
          method: 'put',
          operation: override.operation,
          summary: `Switch a feature on or off for ${what}`,
          description: `Only for an API key of the operator. ${override.note}`,
          body: Body,
          response: { status: 200, description: 'The override.', schema: Override },
        },
        async ({ params: { feature, id }, body, commit }) => {
          if (!(await exists(id))) throw notFound();
          return put(commit, feature, subjectOf(id), body.enabled);
        },
      ),
      route(
        {
          ...shared,
          method: 'delete',
          operation: reset.operation,
          summary: reset.summary,
          description: 'Only for an API key of the operator.',
          response: { status: 204, description: 'There is no override.' },
        },
        async ({ params: { feature, id }, commit }) => {
          if (!(await exists(id))) throw notFound();
          return remove(commit, feature, subjectOf(id));
        },
      ),
    ];
  }

  return [
    route(
      {
        method: 'get',
        path: '/v3/feature_flags',
        tag,
        operation: 'listFeatureFlags',
        summary: 'List what the operator switched on and off',
        description:
          'For the organizations of the caller and their teams, at most 1,000, and for a user. The names of the fields are those of the public API.',
        access: { permission: 'any', session: 'deny' },
        response: {
          status: 200,
          description: 'The features, by organization and for the user.',
          schema: z
            .object({ organizations: z.record(z.string(), z.array(Flag)), user: z.array(Flag) })
            .openapi('FeatureFlags'),
        },
      },
      async ({ principal }) => {
        const own =
          principal.type === 'user'
            ? principal.memberships.map(({ organizationId }) => organizationId)
            : [organizationOf(principal) ?? ''];
        const { rows } = await store.organizations.family(own, { limit: MAX_ORGANIZATIONS, offset: 0 });
        const states = await flags.ofOrganizations(rows);
        const organizations = Object.fromEntries(rows.map(({ id }, index) => [id, (states[index] ?? []).map(present)]));
        const user = principal.type === 'user' ? await flags.ofUser(principal.user.id) : [];
        return { status: 200, body: { organizations, user: user.map(present) } };
      },
    ),

    ...overrideRoutes({
      path: 'organizations',
      what: 'an organization and its teams',
      override: { operation: 'overrideFeature', note: 'A team can have its own override.' },
      reset: { operation: 'resetFeature', summary: 'Remove the override of an organization' },
      subjectOf: (organizationId) => ({ organizationId }),
      exists: async (id) => (await store.organizations.get(id)) !== undefined,
    }),
    ...overrideRoutes({
      path: 'users',
      what: 'a user',
      override: { operation: 'overrideUserFeature', note: 'It takes precedence over the organization.' },
      reset: { operation: 'resetUserFeature', summary: 'Remove the override of a user' },
      subjectOf: (userId) => ({ userId }),
      exists: async (id) => (await store.users.get(id)) !== undefined,
    }),
  ];
}

const present = ({ feature, enabled, isDefault }: FlagState): z.output<typeof Flag> => ({
  FeatureID: definitionOf(feature).id,
  FeatureName: feature,
  Enabled: enabled,
  IsDefault: isDefault,
  Value: enabled,
});

const presentOverride = (feature: Feature, subject: FeatureSubject, enabled: boolean): z.output<typeof Override> => ({
  feature,
  ...('userId' in subject ? { user_id: subject.userId } : { organization_id: subject.organizationId }),
  enabled,
});
