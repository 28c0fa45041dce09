import { createTtlCache } from '../auth/ttl-cache.js';
import type { Clock } from '../clock.js';
import type { FeatureOverride } from '../store/feature-overrides.js';
import type { ReadTables } from '../store/store.js';
import { definitionOf, features, type Feature, type FeatureDefaults } from './features.js';

/** Milliseconds for which overrides are cached. */
const CACHE_TTL_MS = 1_000;

/** One feature as it is for an organization or a user. */
export interface FlagState {
  feature: Feature;
  enabled: boolean;
  /** Whether nothing overrides it. */
  isDefault: boolean;
}

/** For whom a feature is evaluated. */
export interface FlagSubject {
  organizationId?: string | undefined;
  userId?: string | undefined;
}

/**
 * Evaluates features. An override of the user takes precedence over one of the organization, that over
 * one of its parent, and that over the operator's environment.
 */
export interface FeatureFlags {
  /** Whether each feature is on without an override. */
  readonly defaults: FeatureDefaults;
  /** @param tables inside a transaction, the tables of that transaction; the result is not cached then */
  isOn(feature: Feature, subject: FlagSubject, tables?: Pick<ReadTables, 'featureOverrides'>): Promise<boolean>;
  /** Returns all features for a user alone. */
  ofUser(userId: string): Promise<FlagState[]>;
  /** Returns all features for several organizations, without overrides of users. */
  ofOrganizations(organizations: readonly { id: string; parentId: string | null }[]): Promise<FlagState[][]>;
  /** Clears the cache. Call it after a change, so that this replica applies it immediately. */
  forget(): void;
}

export interface FeatureFlagsOptions {
  store: Pick<ReadTables, 'featureOverrides'>;
  defaults: FeatureDefaults;
  clock: Clock;
}

export function createFeatureFlags({ store, defaults, clock }: FeatureFlagsOptions): FeatureFlags {
  const cache = createTtlCache<readonly FeatureOverride[]>(CACHE_TTL_MS, clock);

  const overridesOf = (
    { organizationId, userId }: FlagSubject,
    tables?: Pick<ReadTables, 'featureOverrides'>,
  ): Promise<readonly FeatureOverride[] | undefined> =>
    tables
      ? tables.featureOverrides.effective(organizationId, userId)
      : cache.get(`${organizationId ?? ''} ${userId ?? ''}`, () =>
          store.featureOverrides.effective(organizationId, userId),
        );

  /** @param overrides the first one of the feature applies */
  function evaluate(feature: Feature, overrides: readonly FeatureOverride[]): FlagState {
    const override = overrides.find((each) => each.feature === feature);
    const possible = definitionOf(feature).requires === undefined || defaults[feature];
    return {
      feature,
      enabled: override ? override.enabled && possible : defaults[feature],
      isDefault: override === undefined,
    };
  }

  return {
    defaults,

    async isOn(feature, subject, tables) {
      return evaluate(feature, byPrecedence((await overridesOf(subject, tables)) ?? [], subject)).enabled;
    },

    async ofUser(userId) {
      const overrides = (await overridesOf({ userId })) ?? [];
      return features.map((feature) => evaluate(feature, overrides));
    },

    async ofOrganizations(organizations) {
      const ids = organizations.flatMap(({ id, parentId }) => (parentId === null ? [id] : [id, parentId]));
      const found = await store.featureOverrides.of([...new Set(ids)]);
      return organizations.map(({ id, parentId }) => {
        const own = byPrecedence(
          found.filter(({ organizationId }) => organizationId === id || organizationId === parentId),
          { organizationId: id },
        );
        return features.map((feature) => evaluate(feature, own));
      });
    },

    forget: () => cache.forget(),
  };
}

/** Sorts overrides of a user, its organization and the parent of that. */
function byPrecedence(overrides: readonly FeatureOverride[], { organizationId }: FlagSubject): FeatureOverride[] {
  const rank = (override: FeatureOverride): number =>
    override.userId === null ? (override.organizationId === organizationId ? 1 : 2) : 0;
  return overrides.toSorted((one, other) => rank(one) - rank(other));
}
