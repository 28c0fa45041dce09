import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../root.mjs';
import { run } from '../run.mjs';
import { say } from '../say.mjs';

/** Counts whether a dry run of a release succeeds in a fresh clone of the current commit. */
export async function checkRelease(tally) {
  say('Dry run of a release in a fresh clone ...');
  const folder = mkdtempSync(join(tmpdir(), 'release-clone-'));
  try {
    const cwd = join(folder, 'clone');
    const passed =
      (await run('git', ['clone', '--quiet', root, cwd])) === 0 &&
      (await run(process.execPath, ['scripts/release.mjs', '--dry-run'], { cwd })) === 0;
    tally.count('dry run of a release in a fresh clone', passed);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
