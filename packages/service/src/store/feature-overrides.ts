import type { InferSelectModel } from 'drizzle-orm';
import { and, eq, inArray, or } from 'drizzle-orm';
import type { Queries } from './database.js';
import { featureOverrides as table, organizations } from './tables.js';

/** A feature flag that the operator set for an organization or a user. */
export type FeatureOverride = InferSelectModel<typeof table>;

/** An organization or a user. */
export type FeatureSubject = { organizationId: string } | { userId: string };

export interface FeatureOverrides {
  /** Stores an override, replacing that of the same feature and subject. */
  put(override: FeatureOverride): Promise<void>;
  remove(override: Pick<FeatureOverride, 'id'>): Promise<void>;
  /** Reads and locks the row (`FOR UPDATE`) until the transaction ends. */
  lock(feature: string, subject: FeatureSubject): Promise<FeatureOverride | undefined>;
  /** Returns the overrides of some organizations. */
  of(organizationIds: readonly string[]): Promise<FeatureOverride[]>;
  /** Returns the overrides of an organization, its parent, and a user. */
  effective(organizationId: string | undefined, userId: string | undefined): Promise<FeatureOverride[]>;
}

export function createFeatureOverrides(queries: Queries): FeatureOverrides {
  return {
    async put(override) {
      const { id, enabled, updatedAt } = override;
      const rows = await queries
        .update(table)
        .set({ enabled, updatedAt })
        .where(eq(table.id, id))
        .returning({ id: table.id });
      if (rows.length === 0) await queries.insert(table).values(override);
    },

    async remove({ id }) {
      await queries.delete(table).where(eq(table.id, id));
    },

    async lock(feature, subject) {
      const ofSubject =
        'userId' in subject ? eq(table.userId, subject.userId) : eq(table.organizationId, subject.organizationId);
      const [row] = await queries
        .select()
        .from(table)
        .where(and(eq(table.feature, feature), ofSubject))
        .for('update');
      return row;
    },

    of: (organizationIds) =>
      queries
        .select()
        .from(table)
        .where(inArray(table.organizationId, [...organizationIds])),

    effective(organizationId, userId) {
      if (organizationId === undefined && userId === undefined) return Promise.resolve([]);
      const parent = queries
        .select({ id: organizations.parentId })
        .from(organizations)
        .where(eq(organizations.id, organizationId ?? ''));
      return queries
        .select()
        .from(table)
        .where(
          or(
            organizationId === undefined ? undefined : eq(table.organizationId, organizationId),
            organizationId === undefined ? undefined : inArray(table.organizationId, parent),
            userId === undefined ? undefined : eq(table.userId, userId),
          ),
        );
    },
  };
}
