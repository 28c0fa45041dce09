/**
 * Kills the engine at random times and reports what became of the records it had acknowledged:
 *
 *     npm run build -w packages/engine && node packages/engine/scripts/kill-loop.mjs [kills] [seed]
 *
 * Default: 200 kills of the bus and of the pipelines, and a seed from the clock.
 */
import { killBus } from '../dist/testing/kill-bus.js';
import { killPipelines, PAGE } from '../dist/testing/kill-pipelines.js';
import { seededRandom } from '../dist/testing/random.js';

const kills = Number(process.argv[2] ?? 200);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
console.log(`${kills} kills of each, seed ${seed}`);

const began = Date.now();
const bus = await killBus(kills, seededRandom(seed));
const pipelines = await killPipelines(kills, seededRandom(seed));
console.log({ bus, pipelines, seconds: Math.round((Date.now() - began) / 1_000) });

const failures = [
  bus.lost.length > 0 && 'the bus lost what it had acknowledged',
  bus.forgotten.length > 0 && 'the bus took a repeat for new',
  bus.damaged > 0 && 'the bus found damage',
  bus.repeated > kills && 'the bus repeated more than a batch for each kill',
  pipelines.lost > 0 && 'a pipeline lost what it had acknowledged',
  pipelines.cursorAhead > 0 && 'a cursor was ahead of its output',
  pipelines.broken > 0 && 'an output holds what is no record',
  pipelines.pagedTwice > kills * PAGE && 'a pipeline repeated more than a page for each kill',
].filter(Boolean);
for (const failure of failures) console.error(`FAILED: ${failure}`);
process.exitCode = failures.length > 0 ? 1 : 0;
