import { and, asc, count, eq, inArray, or, sql } from 'drizzle-orm';
import type { Queries } from './database.js';
import type { Pipeline, Pipelines } from './store.js';
import { pipelineComponents as components, pipelines as table } from './tables.js';

const own = (organizationId: string) => eq(table.organizationId, organizationId);
const one = (organizationId: string, id: string) => and(own(organizationId), eq(table.id, id));

export function createPipelines(queries: Queries): Pipelines {
  const holding = (componentId: string) =>
    inArray(
      table.id,
      queries
        .select({ id: components.pipelineId })
        .from(components)
        .where(or(eq(components.connectorId, componentId), eq(components.transformId, componentId))),
    );

  async function place(pipeline: Pipeline): Promise<void> {
    const rows = componentsOf(pipeline);
    if (rows.length > 0) await queries.insert(components).values(rows);
  }

  return {
    async insert(pipeline) {
      await queries.insert(table).values(pipeline);
      await place(pipeline);
    },

    async get(organizationId, id) {
      const [row] = await queries.select().from(table).where(one(organizationId, id));
      return row;
    },

    async lock(organizationId, id) {
      const [row] = await queries.select().from(table).where(one(organizationId, id)).for('update');
      return row;
    },

    async list(organizationId, { limit, offset }, componentId) {
      const filter = and(own(organizationId), componentId === undefined ? undefined : holding(componentId));
      const rows = await queries
        .select()
        .from(table)
        .where(filter)
        .orderBy(asc(table.createdAt), asc(table.id))
        .limit(limit)
        .offset(offset);
      const [all] = await queries.select({ total: count() }).from(table).where(filter);
      return { rows, total: all?.total ?? 0 };
    },

    using(organizationId, componentId) {
      return queries
        .select()
        .from(table)
        .where(and(own(organizationId), holding(componentId)))
        .orderBy(asc(table.createdAt), asc(table.id));
    },

    usingAnywhere: (componentId) =>
      queries.select().from(table).where(holding(componentId)).orderBy(asc(table.createdAt), asc(table.id)),

    async ofNode(organizationId, nodeId) {
      const holds = sql`${table.nodes} @> ${JSON.stringify([{ id: nodeId }])}::jsonb`;
      const [row] = await queries
        .select()
        .from(table)
        .where(and(own(organizationId), holds));
      return row;
    },

    all: (organizationId) =>
      queries.select().from(table).where(own(organizationId)).orderBy(asc(table.createdAt), asc(table.id)),

    async ids(organizationId) {
      const rows = await queries.select({ id: table.id }).from(table).where(own(organizationId));
      return rows.map(({ id }) => id);
    },

    async update(pipeline, before) {
      const { id, ...change } = pipeline;
      await queries.update(table).set(change).where(eq(table.id, id));
      if (pipeline.nodes === before.nodes) return;
      await queries.delete(components).where(eq(components.pipelineId, id));
      await place(pipeline);
    },

    async remove(id) {
      await queries.delete(table).where(eq(table.id, id));
    },
  };
}

/** Returns one row per component, even if several nodes use it. */
function componentsOf({ id: pipelineId, organizationId, nodes }: Pipeline) {
  const seen = new Set<string>();
  return nodes.flatMap(({ component_id: componentId, component_type: type }) => {
    if (seen.has(componentId)) return [];
    seen.add(componentId);
    const isTransform = type === 'transform';
    return [
      {
        pipelineId,
        organizationId,
        connectorId: isTransform ? null : componentId,
        transformId: isTransform ? componentId : null,
      },
    ];
  });
}
