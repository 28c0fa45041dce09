import { referredSecrets } from '@connector-frame/engine';
import { and, eq, gt, inArray, sql, type SQL } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { Connector, OrganizationSecret, Pipeline, StoredSecret, Transform } from './store.js';
import {
  connectors,
  organizations,
  organizationSecrets,
  pipelineComponents,
  pipelines,
  resourceShares,
  transforms,
} from './tables.js';
import { readWithSecrets } from './with-secrets.js';

/** A pipeline with all of its components, by id. */
export interface RunningRow {
  pipeline: Pipeline;
  /** The parent of its organization. */
  parentId: string | null;
  stamp: string;
  /** Its own connectors, and those that are shared with its organization. */
  connectors: ReadonlyMap<string, Connector>;
  /** Secrets of all connectors in the pipeline. */
  secrets: readonly StoredSecret[];
  transforms: ReadonlyMap<string, Transform>;
  /** Secrets of the organization that its transforms refer to. */
  transformSecrets: readonly OrganizationSecret[];
}

/**
 * A pipeline id, and a stamp that changes whenever the pipeline or one of its components changes.
 */
export interface PipelineStamp {
  id: string;
  stamp: string;
}

/** Queries of the engine, across all organizations. Never use them to respond to clients. */
export interface RunningPipelines {
  /** Returns stamps ordered by id, starting after `after`. */
  stamps(after: string, limit: number): Promise<PipelineStamp[]>;
  /** Returns the pipelines in `ids` that exist. */
  load(ids: readonly string[]): Promise<RunningRow[]>;
  /** Returns the input of each pipeline, ordered by pipeline id, starting after `after`. */
  inputs(after: string, limit: number): Promise<{ pipelineId: string; connectorId: string }[]>;
}

export function createRunningPipelines(queries: Queries): RunningPipelines {
  /**
   * @param chosen condition that selects the pipelines
   * @param limit maximum number of pipelines
   */
  async function stamps(chosen: SQL | undefined, limit: number): Promise<PipelineStamp[]> {
    const some = queries
      .select({ id: pipelines.id, version: pipelines.version })
      .from(pipelines)
      .where(chosen)
      .orderBy(pipelines.id)
      .limit(limit)
      .as('some');
    const rows = await queries
      .select({
        id: some.id,
        version: some.version,
        // Versions only increase, so an equal sum means that every version is equal.
        parts: sql<number>`coalesce(sum(${connectors.version}), 0) + coalesce(sum(${transforms.version}), 0)`,
      })
      .from(some)
      .leftJoin(pipelineComponents, eq(pipelineComponents.pipelineId, some.id))
      .leftJoin(connectors, eq(connectors.id, pipelineComponents.connectorId))
      .leftJoin(transforms, eq(transforms.id, pipelineComponents.transformId))
      .groupBy(some.id, some.version)
      .orderBy(some.id);
    return rows.map(({ id, version, parts }) => ({ id, stamp: `${version}.${parts}` }));
  }

  /** Returns which of these connectors are shared, as `<organization> <connector>`. */
  async function sharedConnectors(
    connectorIds: readonly string[],
    organizationIds: readonly string[],
  ): Promise<ReadonlySet<string>> {
    if (connectorIds.length === 0) return new Set();
    const rows = await queries
      .select({ connectorId: resourceShares.connectorId, organizationId: resourceShares.targetOrganizationId })
      .from(resourceShares)
      .where(
        and(
          inArray(resourceShares.connectorId, [...connectorIds]),
          inArray(resourceShares.targetOrganizationId, [...organizationIds]),
        ),
      );
    return new Set(rows.map(({ connectorId, organizationId }) => `${organizationId} ${connectorId}`));
  }

  const sharedSecrets = (ids: readonly string[]): Promise<OrganizationSecret[]> =>
    queries
      .select()
      .from(organizationSecrets)
      .where(inArray(organizationSecrets.id, [...ids]))
      .orderBy(organizationSecrets.id);

  return {
    stamps: (after, limit) => stamps(gt(pipelines.id, after), limit),

    async load(ids) {
      if (ids.length === 0) return [];
      // Reads stamps first, so that the next sweep finds a change made during the other reads.
      const known = new Map((await stamps(inArray(pipelines.id, [...ids]), ids.length)).map((row) => [row.id, row]));
      const found = await queries
        .select({ pipeline: pipelines, parentId: organizations.parentId })
        .from(pipelines)
        .innerJoin(organizations, eq(organizations.id, pipelines.organizationId))
        .where(inArray(pipelines.id, [...ids]));
      const rows = found.map(({ pipeline }) => pipeline);
      const nodes = rows.flatMap((row) => row.nodes);
      const idsOf = (isTransform: boolean): string[] => [
        ...new Set(
          nodes
            .filter(({ component_type: type }) => (type === 'transform') === isTransform)
            .map(({ component_id: id }) => id),
        ),
      ];
      const changes = idsOf(true);
      const withSecrets = await readWithSecrets(queries, idsOf(false));
      const connectorById = byId(withSecrets.map(({ connector }) => connector));
      const isForeign = ({ organizationId, nodes: own }: Pipeline): boolean =>
        own.some(
          ({ component_id: id }) => (connectorById.get(id)?.organizationId ?? organizationId) !== organizationId,
        );
      const foreign = rows.filter(isForeign);
      const foreignIds = foreign.flatMap((row) => row.nodes.map(({ component_id: id }) => id));
      const sharedOnes = await sharedConnectors(foreignIds, [...new Set(foreign.map((row) => row.organizationId))]);
      const secretsOf = new Map(withSecrets.map(({ connector, secrets }) => [connector.id, secrets]));
      const transformById = byId(
        changes.length === 0 ? [] : await queries.select().from(transforms).where(inArray(transforms.id, changes)),
      );
      const referred = [...transformById.values()].flatMap(({ config }) => referredSecrets(config));
      const shared = referred.length === 0 ? [] : await sharedSecrets([...new Set(referred)]);
      return found.flatMap(({ pipeline, parentId }): RunningRow[] => {
        const stamp = known.get(pipeline.id)?.stamp;
        if (stamp === undefined) return [];
        const own = [...new Set(pipeline.nodes.map((node) => node.component_id))];
        const { organizationId } = pipeline;
        const usable = <T extends { organizationId: string }>(all: ReadonlyMap<string, T>): Map<string, T> =>
          new Map(
            own.flatMap((id): [string, T][] => {
              const row = all.get(id);
              const isUsable = row?.organizationId === organizationId || sharedOnes.has(`${organizationId} ${id}`);
              return row && isUsable ? [[id, row]] : [];
            }),
          );
        const ends = usable(connectorById);
        return [
          {
            pipeline,
            parentId,
            stamp,
            connectors: ends,
            secrets: [...ends.keys()].flatMap((id) => secretsOf.get(id) ?? []),
            transforms: usable(transformById),
            transformSecrets: shared.filter((secret) => secret.organizationId === organizationId),
          },
        ];
      });
    },

    inputs: (after, limit) =>
      queries
        .select({ pipelineId: pipelineComponents.pipelineId, connectorId: connectors.id })
        .from(pipelineComponents)
        .innerJoin(connectors, eq(connectors.id, pipelineComponents.connectorId))
        .where(and(eq(connectors.kind, 'input'), gt(pipelineComponents.pipelineId, after)))
        .orderBy(pipelineComponents.pipelineId)
        .limit(limit),
  };
}

const byId = <T extends { id: string }>(rows: readonly T[]): Map<string, T> =>
  new Map(rows.map((row) => [row.id, row]));
