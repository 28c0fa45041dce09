import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCatalog } from '@connector-frame/catalog';
import { createEmbeddedBus, createEmbeddedCoordinator, systemClock } from '@connector-frame/engine';
import { createEgress } from '@connector-frame/engine/egress';
import { expect, it, onTestFinished } from 'vitest';
import { PipelineLogs } from './pipeline-logs.js';
import { RunningPipeline } from './running-pipeline.js';

const away = () => Promise.reject(new Error('away'));

it('resolves a pending append if the pipeline is removed before it started and the database fails', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'engine-'));
  const bus = createEmbeddedBus({ folder });
  onTestFinished(async () => {
    await bus.close();
    await rm(folder, { recursive: true, force: true });
  });
  const store = { get: away, compareAndSet: away, removeAll: away };
  const pipeline = new RunningPipeline('p', {
    catalog: loadCatalog(),
    egress: createEgress({ allow: [] }),
    clock: systemClock,
    bus,
    coordinator: createEmbeddedCoordinator({ store }),
    holder: 'worker',
    folder,
    logs: await PipelineLogs.open({ folder, now: Date.now, epoch: 1, onFailure: () => undefined }),
    lookupsOf: () => ({}),
    tableOf: () => ({ get: away, put: away }),
    vaultOf: away,
    reseal: away,
    schemas: { load: () => Promise.resolve(new Map()), put: () => Promise.resolve() },
    meter: { of: () => ({ add: () => undefined, addErrors: () => undefined, addUnfiltered: () => undefined }) },
    suspensionOf: () => undefined,
    limits: () => ({}),
  });
  const appended = pipeline.append(['{}']);
  await expect(pipeline.remove()).rejects.toThrow('away');
  expect(await appended).toBeUndefined();
});
