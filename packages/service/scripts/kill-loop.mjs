/**
 * Kills the service repeatedly at random points and reports what became of the records that it
 * acknowledged:
 *
 *     npm run build && node packages/service/scripts/kill-loop.mjs [kills, default 200] [seed]
 */
import { killService } from '../dist/testing/kill-service.js';

const kills = Number(process.argv[2] ?? 200);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
console.log(`${kills} kills, seed ${seed}`);

let state = seed;
const random = () => {
  state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
  return state / 2 ** 32;
};
const began = Date.now();
const result = await killService(kills, random, {}, 3_000);
console.log({ ...result, seconds: Math.round((Date.now() - began) / 1_000) });

const failures = [
  result.lostOverHttp > 0 && 'records that were acknowledged never arrived over HTTP',
  result.lostInFile > 0 && 'records that were acknowledged are not in the file',
  result.broken > 0 && 'the file holds what is no record',
  result.repeatedBatches > kills && 'more than a batch for each kill came again',
  result.repeatedPages > kills && 'more than a page for each kill came again',
  result.repeatedInFile > kills * 500 && 'more than a batch for each kill is in the file again',
  result.cursorAhead > 0 && 'a cursor was ahead of its output',
  result.halves > 0 && 'half of an integration is there',
  result.leftBehind > 0 && 'something is left of pipelines that are gone',
].filter(Boolean);
for (const failure of failures) console.error(`FAILED: ${failure}`);
process.exitCode = failures.length > 0 ? 1 : 0;
