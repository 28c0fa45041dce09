import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compile } from './child.js';

export interface BusKills {
  kills: number;
  /** Batches that `publish` answered as stored. */
  acknowledged: number;
  /** Of these: never delivered. */
  lost: string[];
  /** Deliveries beyond the first of a batch. */
  repeated: number;
  /** Batches that were sent again after a kill, were stored before, and were taken as new all the same. */
  forgotten: string[];
  /** Damage other than an unfinished end. */
  damaged: number;
}

/** Kills a process that fills and empties a bus, again and again, and adds up what became of what it had acknowledged. */
export async function killBus(kills: number, random: () => number): Promise<BusKills> {
  const folder = await mkdtemp(join(tmpdir(), 'kill-bus-'));
  const program = await compile('bus-program');
  const stored = new Set<string>();
  const got = new Map<string, number>();
  const result: BusKills = { kills, acknowledged: 0, lost: [], repeated: 0, forgotten: [], damaged: 0 };
  const hear = (lines: readonly string[]): void => {
    for (const line of lines) {
      const [word, id = ''] = line.split(' ');
      if (word === 'stored' && stored.has(id)) result.forgotten.push(id);
      if (word === 'stored' || word === 'repeated') stored.add(id);
      if (word === 'got') got.set(id, (got.get(id) ?? 0) + 1);
      if (word === 'failed' || line === 'damage skipped') result.damaged += 1;
    }
  };
  try {
    let next = 1;
    for (let cycle = 0; cycle < kills; cycle += 1) {
      // Some of what was sent before is sent again: what is stored must be known.
      const run = program.start([folder, String(Math.max(1, next - 40)), 'fill']);
      while (run.lines.length < 5 + random() * 500 && run.process.exitCode === null) await sleep(1 + random() * 5);
      run.process.kill('SIGKILL');
      if ((await run.ended) !== 'SIGKILL') throw new Error(`The process ended by itself: ${run.lines.at(-1)}`);
      hear(run.lines);
      next = Math.max(next, ...[...stored].slice(-20).map((id) => Number(id.slice(1)))) + 1;
    }
    const last = program.start([folder, '0', 'drain']);
    await last.ended;
    hear(last.lines);
    result.acknowledged = stored.size;
    result.lost = [...stored].filter((id) => !got.has(id));
    result.repeated = [...got.values()].reduce((sum, count) => sum + count - 1, 0);
    return result;
  } finally {
    await program.remove();
    await rm(folder, { recursive: true, force: true });
  }
}
