import { expect, it } from 'vitest';
import { createMetrics } from './metrics.js';

it('exports the dead letters of all pipelines by event', async () => {
  const metrics = createMetrics();
  const none = { records: 0, bytes: 0 };
  metrics.watchPipelines({
    collectMetrics: () => ({
      totals: { ingress: none, egress: none, errors: 3 },
      letters: { stored: 3, dropped: 1, replayed: 2 },
      losses: { dropped: 0, lost: 0 },
      statuses: new Map(),
    }),
    measureNodes: () => Promise.resolve({ nodes: [], at: 0, unlabeled: 0 }),
  });
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('pipeline_dead_letters_total'));
  expect(lines).toEqual([
    'pipeline_dead_letters_total{event="stored"} 3',
    'pipeline_dead_letters_total{event="dropped"} 1',
    'pipeline_dead_letters_total{event="replayed"} 2',
  ]);
});
