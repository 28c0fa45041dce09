import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { LetterStorage } from '@connector-frame/engine';
import type { Logger } from 'pino';

export interface MoveLettersOptions {
  /** Contains one folder per pipeline. */
  folder: string;
  pipelineIds: readonly string[];
  /** Returns the dead letters in the folder of a pipeline. */
  from: (folder: string) => LetterStorage;
  to: (pipelineId: string) => LetterStorage;
  log: Logger;
}

/** Letters per page: what a crash duplicates at most. */
const PAGE = 100;

/** Moves dead letters from the folders of pipelines to another storage, before pipelines start. */
export async function moveLetters({ folder, pipelineIds, from, to, log }: MoveLettersOptions): Promise<void> {
  let count = 0;
  for (const id of pipelineIds) {
    const path = join(folder, id);
    const source = from(path);
    for (const nodeId of await source.nodeIds()) {
      const [node, target] = [await source.open(nodeId), await to(id).open(nodeId)];
      for (;;) {
        const page = await node.list(0, PAGE);
        if (page.length === 0) break;
        await target.add(page);
        await node.delete(page.map((each) => Number(each.id.slice(nodeId.length + 1))));
        count += page.length;
      }
    }
    await rm(path, { recursive: true, force: true });
  }
  if (count > 0) log.info({ letters: count }, 'dead letters moved from DATA_DIR');
}
