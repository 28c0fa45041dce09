import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compile } from '../../packages/engine/src/testing/child.js';

export interface PipelineKills {
  kills: number;
  /**
   * Pushed records that were acknowledged; how many of them were lost; how many were delivered more
   * than once.
   */
  pushed: number;
  lost: number;
  pushedTwice: number;
  /**
   * Records of the paged pipeline in its output; how many are missing before its cursor; how many
   * are duplicates.
   */
  paged: number;
  cursorAhead: number;
  pagedTwice: number;
  /** Output lines that are not valid records. */
  broken: number;
}

/** Records per page of the paged pipeline; a page is one batch. */
export const PAGE = 500;

/** How outputs write several batches at a time. */
export interface ConcurrentWrites {
  writes: number;
  /** Records of each. */
  records: number;
}

/**
 * Repeatedly kills a process that runs two pipelines, and counts which acknowledged records
 * arrived.
 * @param concurrent absent: the outputs write one stored batch at a time
 */
export async function killPipelines(
  kills: number,
  random: () => number,
  concurrent: ConcurrentWrites = { writes: 1, records: 0 },
): Promise<PipelineKills> {
  const folder = await mkdtemp(join(tmpdir(), 'kill-pipelines-'));
  const { writes, records } = concurrent;
  const program = await compile(new URL('pipeline-program.ts', import.meta.url));
  const pages = join(folder, 'pages.ndjson');
  const acknowledged = new Set<number>();
  let cursor = 0;
  const hear = (lines: readonly string[]): void => {
    for (const line of lines) {
      const [word, number] = line.split(' ');
      if (word === 'pushed') acknowledged.add(Number(number));
      if (word === 'cursor') cursor = Number(number);
    }
  };
  try {
    for (let cycle = 0; cycle < kills; cycle += 1) {
      const first = acknowledged.size === 0 ? 0 : Math.max(...acknowledged) + 1;
      const run = program.start([folder, String(first), 'run', String(writes), String(records)]);
      const wanted = 5 + random() * 200;
      // On a busy machine, a few kills may come before the first page. The last one waits for it.
      const isLast = cycle === kills - 1;
      const isDue = async (): Promise<boolean> =>
        run.lines.length >= wanted && !(isLast && (await arrived(pages)).counts.size <= PAGE);
      while (run.process.exitCode === null && !(await isDue())) await sleep(2);
      await sleep(random() * 100);
      run.process.kill('SIGKILL');
      if ((await run.ended) !== 'SIGKILL') throw new Error(`The process ended by itself: ${run.lines.at(-1)}`);
      hear(run.lines);
    }
    const last = program.start([folder, '0', 'drain', String(writes), String(records)]);
    await last.ended;
    hear(last.lines);
    if (last.lines.at(-1) !== 'idle') throw new Error('The last process did not finish.');
    const pushed = await arrived(join(folder, 'pushed.ndjson'));
    const paged = await arrived(pages);
    return {
      kills,
      pushed: acknowledged.size,
      lost: [...acknowledged].filter((n) => !pushed.counts.has(n)).length,
      pushedTwice: pushed.twice,
      paged: paged.counts.size,
      cursorAhead: Array.from({ length: cursor }, (_, n) => n).filter((n) => !paged.counts.has(n)).length,
      pagedTwice: paged.twice,
      broken: pushed.broken + paged.broken,
    };
  } finally {
    await program.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

async function arrived(path: string): Promise<{ counts: Map<number, number>; twice: number; broken: number }> {
  const counts = new Map<number, number>();
  let broken = 0;
  const text = await readFile(path, 'utf8').catch(() => '');
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const n = /^\{"n":(\d+)\}$/.exec(line)?.[1];
    if (n === undefined) broken += 1;
    else counts.set(Number(n), (counts.get(Number(n)) ?? 0) + 1);
  }
  const twice = [...counts.values()].reduce((sum, count) => sum + count - 1, 0);
  return { counts, twice, broken };
}
