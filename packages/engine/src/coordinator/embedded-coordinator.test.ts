import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCoordinatorContract } from '../testing/coordinator-contract.js';
import { ManualClock } from '../testing/manual-clock.js';
import { createEmbeddedCoordinator } from './embedded-coordinator.js';
import { createFileStore } from './file-store.js';
import { createMemoryStore } from './memory-store.js';
import type { Store } from './store.js';

function over(name: string, make: () => Promise<{ open: () => Store; remove: () => Promise<void> }>): void {
  runCoordinatorContract(name, async () => {
    const { open, remove } = await make();
    const clock = new ManualClock();
    const store = open();
    const coordinator = (of: Store) => createEmbeddedCoordinator({ store: of, now: () => clock.now() });
    return {
      one: coordinator(store),
      other: coordinator(store),
      pass: (ms) => Promise.resolve(clock.advance(ms)),
      restart: () => Promise.resolve(coordinator(open())),
      close: remove,
    };
  });
}

over('embedded, in memory', () => {
  const store = createMemoryStore();
  return Promise.resolve({ open: () => store, remove: () => Promise.resolve() });
});

over('embedded, in files', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'coordinator-'));
  return { open: () => createFileStore(folder), remove: () => rm(folder, { recursive: true }) };
});
