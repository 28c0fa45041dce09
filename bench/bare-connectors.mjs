import { createHash } from 'node:crypto';
import { Hono } from 'hono';

/**
 * Baseline for reads from the database: looks up a key by its digest and one permission in a set,
 * runs handwritten SQL on the same connections, and sends what `shape` makes of the rows.
 */
export function bareConnectors({ query, pipelines, page }) {
  const granted = new Set(['input:read', 'pipeline:read', 'pipeline:metrics:read']);
  const app = new Hono();
  const rows = async (text, ...values) => (await query(text, values)).rows;
  const read = (path, permission, respond) =>
    app.get(path, async (c) => {
      const digest = createHash('sha256').update(c.req.header('x-api-key')).digest();
      await rows('select * from api_keys where digest = $1', digest);
      if (!granted.has(permission)) return c.json({ error: 'forbidden' }, 403);
      return c.json(await respond(c.req.param(), c.req.query()));
    });
  const pageOf = (table) =>
    `select * from ${table} where organization_id = $1 order by created_at, id limit $2 offset $3`;

  read('/v1/:org/inputs', 'input:read', async ({ org }, { limit = page, offset = 0 }) => {
    const inputs = await rows(
      "select * from connectors where organization_id = $1 and kind = 'input' order by created_at, id limit $2 offset $3",
      org,
      limit,
      offset,
    );
    const ids = inputs.map(({ id }) => id);
    const secrets = await rows(
      'select id, connector_id, field, name, updated_at from secrets where connector_id = any($1)',
      ids,
    );
    const [{ total }] = await rows(
      "select count(*)::int as total from connectors where organization_id = $1 and kind = 'input'",
      org,
    );
    return { inputs, secrets, total };
  });
  read('/v1/:org/inputs/:id', 'input:read', async ({ org, id }) => {
    const [input] = await rows('select * from connectors where id = $1 and organization_id = $2', id, org);
    const secrets = await rows('select id, field, name, updated_at from secrets where connector_id = $1', id);
    const used = await rows(
      'select p.id, p.name from pipelines p join pipeline_components c on c.pipeline_id = p.id where c.connector_id = $1',
      id,
    );
    return { ...input, secrets, used };
  });
  read('/v2/:org/pipelines/statuses', 'pipeline:read', async ({ org }) => {
    const all = await rows(pageOf('pipelines'), org, pipelines, 0);
    return all.map(({ id }) => ({ id, status: 'Unknown', last_ingested_time: null }));
  });
  read('/v2/:org/pipeline_summary', 'pipeline:metrics:read', async ({ org }) => {
    const all = await rows(pageOf('pipelines'), org, pipelines, 0);
    const counts = await rows(
      'select distinct on (pipeline_id) pipeline_id, nodes from pipeline_counts where pipeline_id = any($1) and minute < $2 order by pipeline_id, minute desc',
      all.map(({ id }) => id),
      new Date(Date.now() - 86_400_000),
    );
    const before = new Map(counts.map((row) => [row.pipeline_id, row.nodes]));
    return all.map(({ id, name }) => ({ id, name, status: 'Unknown', before: before.get(id) }));
  });
  return app;
}
