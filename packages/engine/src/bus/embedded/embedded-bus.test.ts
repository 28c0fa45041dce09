import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runBusContract } from '../../testing/bus-contract.js';
import { createEmbeddedBus } from './embedded-bus.js';

runBusContract('embedded', async (limits) => {
  const folder = await mkdtemp(join(tmpdir(), 'bus-'));
  const make = () => createEmbeddedBus({ folder, segmentBytes: 30_000, ...limits });
  let bus = make();
  return {
    bus,
    reopen: async () => {
      await bus.close();
      bus = make();
      return bus;
    },
    close: async () => {
      await bus.close();
      await rm(folder, { recursive: true });
    },
  };
});
