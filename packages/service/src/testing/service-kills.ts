import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord } from '@connector-frame/engine';
import { systemClock } from '../clock.js';
import { readEnv } from '../env.js';
import { createLog } from '../log.js';
import { openCore } from '../open-core.js';
import { createEngineState } from '../store/engine-state.js';
import type { Customer } from './customer.js';
import type { Arrived, Receiver } from './receiver.js';

export interface ServiceKills {
  kills: number;
  /** Milliseconds of the fastest start, including the recovery from the kill before it. */
  quickestStart: number;
  /**
   * Records that were acknowledged over HTTP, and how many of these never arrived at each output.
   */
  acknowledged: number;
  lostOverHttp: number;
  lostInFile: number;
  /** Batches that were received again over HTTP, and duplicate records in the file. */
  repeatedBatches: number;
  repeatedInFile: number;
  /** Lines of the file that are not a record. */
  broken: number;
  /**
   * Cursor of the demo input, number of records before it that never arrived, and batches received
   * again.
   */
  cursor: number;
  cursorAhead: number;
  repeatedPages: number;
  /**
   * Integrations acknowledged as built, and incomplete ones: pipelines without their connectors, or
   * outputs without their pipeline.
   */
  built: number;
  halves: number;
  /** Buffers and state of pipelines that no longer exist. */
  leftBehind: number;
  /** Records that were acknowledged over HTTP and are missing in the usage of a pipeline. */
  unmetered: number;
  /**
   * Records by which the usage of an output differs from what has arrived, at most, and outputs whose
   * usage has these records with another size.
   */
  meteredWrong: number;
  bytesWrong: number;
  /** Bytes by which the usage by hour differs from that by month, and from the sums by day. */
  hoursWrong: number;
}

type Sums = Omit<ServiceKills, 'kills' | 'quickestStart'>;

/** Counts what arrived, and what is in the folders and the database of a stopped service. */
export async function addUp(
  variables: Readonly<Record<string, string>>,
  { org, acknowledged, built, pipelines }: Customer,
  receiver: Receiver,
): Promise<Sums> {
  const [pushed, paged] = [receiver.at('/pushed'), receiver.at('/paged')];
  const file = await readFiles(variables['FILE_OUTPUT_DIR'] ?? '');
  const core = await openCore(readEnv(variables), systemClock, createLog('silent'));
  try {
    const all = { limit: 1_000, offset: 0 };
    const rows = (await core.store.pipelines.list(org, all)).rows;
    const outputs = new Set((await core.store.connectors.list(org, 'output', all)).rows.map(({ id }) => id));
    const inputs = new Set((await core.store.connectors.list(org, 'input', all)).rows.map(({ id }) => id));
    const ends = rows.flatMap(({ nodes }) => nodes.map(({ component_id: id }) => id));
    const used = new Set(ends);
    const halves =
      ends.filter((id) => !inputs.has(id) && !outputs.has(id)).length +
      [...outputs].filter((id) => !used.has(id)).length +
      [...built].filter(([id, output]) => !rows.some((row) => row.id === id) || !outputs.has(output)).length;
    const state = createEngineState(core.database.queries);
    const [key = ''] = await state.keys(`cursor:${pipelines.paged}/`);
    const saved = (await state.get(key))?.value;
    const value = isRecord(saved) ? saved['value'] : undefined;
    const cursor = isRecord(value) && typeof value['next'] === 'number' ? value['next'] : 0;
    const places = [
      ...(await state.keys('cursor:')),
      ...(await state.keys('report:')),
      ...(await readdir(join(variables['DATA_DIR'] ?? '', 'engine', 'streams'))),
    ];
    const texts = acknowledged.map((n) => JSON.stringify({ n }));
    const window = { organizationIds: [org], from: 0, to: 2 ** 31 - 1 };
    const usage = await core.store.usage.sum(window, ['pipelineId']);
    const usageOf = (id: string) => usage.find(({ pipelineId }) => pipelineId === id);
    const offBy = (id: string, { counts }: Pick<Arrived, 'counts'>) => {
      const arrived = [...counts].reduce(
        (sum, [text, times]) => ({
          records: sum.records + times,
          bytes: sum.bytes + times * Buffer.byteLength(text),
        }),
        { records: 0, bytes: 0 },
      );
      const { egressRecords = 0, egressBytes = 0 } = usageOf(id) ?? {};
      return { records: Math.abs(arrived.records - egressRecords), bytes: Math.abs(arrived.bytes - egressBytes) };
    };
    const off = [offBy(pipelines.http, pushed), offBy(pipelines.file, file), offBy(pipelines.paged, paged)];
    const bytesIn = async (step: number | 'month'): Promise<number> =>
      (await core.store.usage.sum(window, [], step)).reduce((sum, each) => sum + each.ingressBytes, 0);
    const days = await core.store.usage.days([org], 0);
    const byDay = days.reduce((sum, each) => sum + each.ingressBytes, 0);
    const sums = [await bytesIn(60), await bytesIn('month'), byDay];
    return {
      acknowledged: acknowledged.length,
      lostOverHttp: texts.filter((text) => !pushed.counts.has(text)).length,
      lostInFile: texts.filter((text) => !file.counts.has(text)).length,
      repeatedBatches: pushed.repeatedBatches,
      repeatedInFile: [...file.counts.values()].reduce((sum, count) => sum + count - 1, 0),
      broken: file.broken,
      cursor,
      cursorAhead: Math.max(0, cursor - paged.counts.size),
      repeatedPages: paged.repeatedBatches,
      built: built.size,
      halves,
      leftBehind: places.filter((place) => !rows.some(({ id }) => place.includes(id))).length,
      unmetered: Math.max(
        ...[pipelines.http, pipelines.file].map((id) =>
          Math.max(0, acknowledged.length - (usageOf(id)?.ingressRecords ?? 0)),
        ),
      ),
      meteredWrong: Math.max(...off.map(({ records }) => records)),
      bytesWrong: off.filter(({ records, bytes }) => records === 0 && bytes > 0).length,
      hoursWrong: Math.max(...sums) - Math.min(...sums),
    };
  } finally {
    await core.store.close();
  }
}

async function readFiles(folder: string): Promise<{ counts: Map<string, number>; broken: number }> {
  const counts = new Map<string, number>();
  let broken = 0;
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.includes('pushed')) continue;
    for (const line of (await readFile(join(folder, name), 'utf8')).split('\n')) {
      if (line === '') continue;
      if (/^\{"n":\d+\}$/.test(line)) counts.set(line, (counts.get(line) ?? 0) + 1);
      else broken += 1;
    }
  }
  return { counts, broken };
}
