import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bus, Coordinator } from '@connector-frame/engine';
import type { EngineState } from '../../store/engine-state.js';
import { namesIn } from './create-bus.js';

export interface EngineStorage {
  state: EngineState;
  coordinator: Coordinator;
  bus: Bus;
  /** Returns the names of all buffers. */
  streams: () => Promise<readonly string[]>;
  /** Folder of all dead letters. */
  pipelines: string;
}

/** Snapshot of the state and files of pipelines, some of which may have been removed. */
export interface Orphans {
  /**
   * Removes what no longer belongs to any pipeline.
   * @param has returns whether the pipeline exists and, if `nodeId` is given, may contain that node
   */
  forget(has: (pipelineId: string, nodeId?: string) => boolean): Promise<void>;
}

/**
 * Lists stored state before pipelines are read, so that the list contains nothing that a pipeline
 * creates later. Pipelines may be removed while no engine runs.
 */
export async function findOrphans({ state, coordinator, bus, streams, pipelines }: EngineStorage): Promise<Orphans> {
  const keys = [...(await state.keys('cursor:')), ...(await state.keys('report:'))];
  const stateOf = new Set(keys.map((key) => key.slice(key.indexOf(':') + 1, key.indexOf('/'))));
  const streamNames = await streams();
  const folders = await namesIn(pipelines);
  return {
    async forget(has) {
      for (const id of stateOf) if (!has(id)) await coordinator.forget(id);
      for (const name of streamNames) {
        const dot = name.indexOf('.');
        if (!has(name.slice(0, dot), name.slice(dot + 1))) await bus.remove(name);
      }
      for (const id of folders) if (!has(id)) await rm(join(pipelines, id), { recursive: true, force: true });
    },
  };
}
