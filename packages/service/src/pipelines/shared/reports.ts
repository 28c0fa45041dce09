import { isRecord, observationIn } from '@connector-frame/engine';
import type { EngineMembers } from '../../store/engine-members.js';
import type { EngineState } from '../../store/engine-state.js';
import type { Supervisor } from '../running/supervisor.js';

export interface ReportsOptions {
  durable: Pick<EngineState, 'get' | 'versions'>;
  members: Pick<EngineMembers, 'holders'>;
  supervisor: Pick<Supervisor, 'running'>;
}

/**
 * Reads what other processes have reported about their pipelines, so that each process has the status
 * and the counts of all. A report is read again only if it has changed.
 */
export function createReports({ durable, members, supervisor }: ReportsOptions): { read(): Promise<void> } {
  const known = new Map<string, { version: number; observation: ReturnType<typeof observationIn> }>();
  return {
    async read() {
      const pipelines = [...supervisor.running()].filter((pipeline) => !pipeline.isHeld);
      if (pipelines.length === 0) return known.clear();
      const versions = await durable.versions('report:');
      const holders = await members.holders(pipelines.map(({ id }) => id));
      const read = pipelines.map(async (pipeline) => {
        const key = `report:${pipeline.id}/`;
        const version = versions.get(key) ?? 0;
        let last = known.get(pipeline.id);
        if (last?.version !== version) {
          const stored = version === 0 ? undefined : await durable.get(key);
          const value = stored && isRecord(stored.value) ? stored.value['value'] : undefined;
          last = { version, observation: value === undefined ? undefined : observationIn(value) };
          known.set(pipeline.id, last);
        }
        const { observation } = last;
        pipeline.setReported({ observation, isHeld: holders.has(pipeline.id), revision: version });
      });
      await Promise.all(read);
      const ids = new Set(pipelines.map(({ id }) => id));
      for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    },
  };
}
