import type { Catalog } from '@connector-frame/catalog';
import { scheduleOf } from '@connector-frame/connectors';
import type { Clock } from '../clock.js';
import type { Pipeline, ReadTables } from '../store/store.js';
import type { StoredNode } from '../store/tables.js';
import { settingsAt } from './config-overrides.js';

/** When a pipeline reads its input, as in API responses. */
export interface PipelineSchedule {
  cron_schedule: string;
  /** Absent if the pipeline is paused. RFC 3339. */
  next_cron_run_at?: string;
}

/**
 * Returns the schedules of pipelines whose input has one, by pipeline id. The schedule is a setting
 * of the input, which its node may override.
 *
 * @param pipelines pipelines of one organization
 */
export async function schedulesOf(
  { catalog, clock }: { catalog: Catalog; clock: Clock },
  { connectors }: Pick<ReadTables, 'connectors'>,
  organizationId: string,
  pipelines: readonly Pipeline[],
): Promise<ReadonlyMap<string, PipelineSchedule>> {
  const inputs = new Map(pipelines.map(({ id, nodes }) => [id, inputOf(nodes)]));
  const ids = new Set([...inputs.values()].flatMap((node) => node?.component_id ?? []));
  const byId = new Map((await connectors.some(organizationId, [...ids])).map((row) => [row.id, row]));
  const now = clock.now();
  const schedules = new Map<string, PipelineSchedule>();
  for (const { id, enabled } of pipelines) {
    const node = inputs.get(id);
    const input = node && byId.get(node.component_id);
    const type = input && catalog.get('input', input.type);
    const schedule = type && scheduleOf(type, settingsAt(node, input.settings));
    if (!schedule) continue;
    const next = enabled ? schedule.next(now) : undefined;
    schedules.set(id, {
      cron_schedule: schedule.text,
      ...(next !== undefined && { next_cron_run_at: new Date(next).toISOString() }),
    });
  }
  return schedules;
}

const inputOf = (nodes: Pipeline['nodes']): StoredNode | undefined =>
  nodes.find(({ component_type: type, enabled }) => type === 'input' && enabled);
