import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { longOr } from '../../../../test/support/long.js';
import { compile } from '../testing/child.js';
import { numbersUpTo } from '../testing/pipeline-fixture.js';

/** Records per page of the program. */
const PAGE = 10;

test(
  'a polled input with two outputs, killed at random: each output receives every page up to the cursor',
  async () => {
    const kills = longOr(100, 6);
    const folder = await mkdtemp(join(tmpdir(), 'polled-kill-'));
    const program = await compile(new URL('../testing/polled-program.ts', import.meta.url));
    onTestFinished(async () => {
      await program.remove();
      await rm(folder, { recursive: true, force: true });
    });
    for (let cycle = 0; cycle < kills; cycle += 1) {
      const run = program.start([folder, 'run']);
      const pages = 2 + Math.random() * 60;
      while (run.lines.length < pages && run.process.exitCode === null) await sleep(1);
      run.process.kill('SIGKILL');
      expect(await run.ended).toBe('SIGKILL');
    }
    const drain = program.start([folder, 'drain']);
    expect(await drain.ended).toBe(0);
    const cursor = Number(drain.lines.find((line) => line.startsWith('cursor '))?.slice(7));
    expect(cursor).toBeGreaterThan(PAGE * kills);
    for (const name of ['healthy', 'slow']) {
      const text = await readFile(join(folder, `${name}.txt`), 'utf8');
      const got = text.split('\n').filter(Boolean).map(Number);
      const numbers = [...new Set(got)].sort((a, b) => a - b);
      // The last page may be stored, and its cursor not yet committed.
      expect([cursor, cursor + PAGE]).toContain(numbers.length);
      expect(numbers).toEqual(numbersUpTo(numbers.length));
      // At most the batch that was delivered and not yet acknowledged. A page is stored once.
      expect(got.length - numbers.length).toBeLessThanOrEqual(PAGE * kills);
    }
  },
  longOr(1_800_000, 60_000),
);
