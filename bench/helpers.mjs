import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { findIntegrationPipeline, setIntegrationEnabled } from '@connector-frame/core/connect';
import { median, report } from './lib.mjs';

const COUNTS = [10, 100, 1_000, 10_000];
const ROUNDS = 200;

/** Loads the in-memory service of the lifecycle helpers' tests. Its inputs list their pipelines. */
async function loadService() {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../test/support/fake-pipelines.ts', import.meta.url))],
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  });
  const { fakePipelines } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
  return fakePipelines;
}

/**
 * Returns the number of requests of one call and its median duration in milliseconds, without the
 * time spent in the service.
 */
async function measure(fake, call) {
  const times = [];
  let inService = 0;
  const request = async (path, init) => {
    const started = performance.now();
    const answer = await fake.request(path, init);
    inService += performance.now() - started;
    return answer;
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    fake.asked.length = 0;
    inService = 0;
    const started = performance.now();
    await call(request);
    times.push(performance.now() - started - inService);
  }
  return { requests: fake.asked.length, ms: median(times) };
}

export default async function helpers() {
  const fakePipelines = await loadService();
  for (const [name, call] of [
    [
      'find',
      ({ org, inputId }) =>
        (request) =>
          findIntegrationPipeline({ request, org, inputId }),
    ],
    [
      'toggle',
      ({ org, pipelineId }) =>
        (request) =>
          setIntegrationEnabled({ request, org, pipelineId, enabled: false }),
    ],
  ]) {
    for (const count of COUNTS) {
      const fake = fakePipelines({ integrations: true });
      for (let index = 1; index < count; index += 1) fake.addInput(true);
      const ids = { org: fake.org, ...fake.addInput(true) };
      const { requests, ms } = await measure(fake, call(ids));
      const told = `${requests} request, ${(ms * 1_000).toFixed(0)} \u00b5s beside it`;
      report(`${name} with ${count.toLocaleString('en')} pipelines`, told, 'one request', requests === 1);
    }
  }
}
