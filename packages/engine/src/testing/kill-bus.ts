import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compile } from './child.js';

export interface BusKills {
  kills: number;
  /** Batches for which `publish` returned `stored`. */
  acknowledged: number;
  /** Ids of acknowledged batches that were never delivered. */
  lost: string[];
  /** Redeliveries. */
  repeated: number;
  /**
   * Ids of stored batches that were published again after a kill and not detected as duplicates.
   */
  forgotten: string[];
  /** Damage other than a torn write at the end, and records reported as lost. */
  damaged: number;
  /**
   * Batches that a consumer with the policy `drop_newest` received, or that the stream counted as
   * dropped for it.
   */
  kept: number;
  dropped: number;
}

export interface KillBusOptions {
  /** Address of a NATS server. Absent: the bus is embedded. */
  url?: string;
  /**
   * Kills a server of the bus and starts it again. Called instead of killing the process in every
   * second cycle. Batches may then fail.
   */
  restart?: () => Promise<void>;
}

/**
 * Repeatedly kills a process that publishes to and consumes from a bus, and counts what became of
 * the acknowledged batches.
 */
export async function killBus(
  kills: number,
  random: () => number,
  { url, restart }: KillBusOptions = {},
): Promise<BusKills> {
  const where = url === undefined ? [] : [url];
  const folder = await mkdtemp(join(tmpdir(), 'kill-bus-'));
  const program = await compile(new URL('../../src/testing/bus-program.ts', import.meta.url));
  const stored = new Set<string>();
  const got = new Map<string, number>();
  const result: BusKills = {
    kills,
    acknowledged: 0,
    lost: [],
    repeated: 0,
    forgotten: [],
    damaged: 0,
    kept: 0,
    dropped: 0,
  };
  const collect = (lines: readonly string[]): void => {
    for (const line of lines) {
      const [word, id = ''] = line.split(' ');
      if (word === 'stored' && stored.has(id)) result.forgotten.push(id);
      if (word === 'stored' || word === 'repeated') stored.add(id);
      if (word === 'got') got.set(id, (got.get(id) ?? 0) + 1);
      if (word === 'kept') result.kept += 1;
      if (word === 'dropped') result.dropped = Number(id);
      if (word === 'lost') result.damaged += Number(id);
      if ((word === 'failed' && !restart) || line === 'damage skipped') result.damaged += 1;
    }
  };
  try {
    let next = 1;
    for (let cycle = 0; cycle < kills; cycle += 1) {
      // Publish some earlier batches again: stored ones must be detected as duplicates.
      const run = program.start([folder, String(Math.max(1, next - 40)), 'fill', ...where]);
      const enough = 5 + random() * 500;
      while (run.lines.length < enough && run.process.exitCode === null) await sleep(1 + random() * 5);
      if (restart && cycle % 2 === 0) {
        await restart();
        const before = run.lines.length;
        while (run.lines.length < before + enough / 4 && run.process.exitCode === null) await sleep(5);
      }
      run.process.kill('SIGKILL');
      if ((await run.ended) !== 'SIGKILL') throw new Error(`The process ended by itself: ${run.lines.at(-1)}`);
      collect(run.lines);
      next = Math.max(next, ...[...stored].slice(-20).map((id) => Number(id.slice(1)))) + 1;
    }
    const last = program.start([folder, '0', 'drain', ...where]);
    await last.ended;
    collect(last.lines);
    result.acknowledged = stored.size;
    result.lost = [...stored].filter((id) => !got.has(id));
    result.repeated = [...got.values()].reduce((sum, count) => sum + count - 1, 0);
    return result;
  } finally {
    await program.remove();
    await rm(folder, { recursive: true, force: true });
  }
}
