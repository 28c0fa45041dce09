import { expect, it } from 'vitest';
import { writeForm } from '../../../test/support/form-assets.js';
import { longOr } from '../../../test/support/long.js';
import { mainFile } from '../../../test/support/service-process.js';
import { killService } from './testing/kill-service.js';

/** Maximum number of records per batch. */
const BATCH = 500;
/** The long run also executes `scripts/kill-loop.mjs`, with 200 kills. */
const KILLS = longOr(15, 2);

it(`loses nothing acknowledged and leaves nothing partial in ${KILLS} random kills (R02, R08)`, async () => {
  const form = await writeForm();
  const result = await killService(KILLS, Math.random, { FORM_DIR: form.folder }, 1_000, mainFile());
  await form.remove();
  expect(result.acknowledged).toBeGreaterThan(longOr(20, 0));
  expect(result.cursor).toBeGreaterThanOrEqual(longOr(10, 0));
  expect(result).toMatchObject({ lostOverHttp: 0, lostInFile: 0, broken: 0, cursorAhead: 0, halves: 0, leftBehind: 0 });
  expect(result).toMatchObject({ unmetered: 0, bytesWrong: 0, hoursWrong: 0 });
  // A batch that a kill has interrupted may have arrived without being counted; then it arrives again.
  expect(result.meteredWrong).toBeLessThanOrEqual(result.kills * BATCH);
  expect(result.repeatedBatches).toBeLessThanOrEqual(result.kills);
  expect(result.repeatedPages).toBeLessThanOrEqual(result.kills);
  expect(result.repeatedInFile).toBeLessThanOrEqual(result.kills * BATCH);
}, 600_000);
