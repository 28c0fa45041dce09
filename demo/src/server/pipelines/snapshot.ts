import type { PipelineSnapshot } from '../../pages/shared/pipelines/shapes.js';
import { states } from '../../pages/shared/pipelines/states.js';
import { countOf, fieldsOf, listOf, textOf } from './read.js';
import { nullIfNotFound, type Finder, type Scope } from './scope.js';

/**
 * Length of the service's metric intervals and the delay until a completed interval is available,
 * in milliseconds.
 */
const [interval, moment] = [10_000, 1_500];

const statuses = Object.keys(states);

function isStatus(word: unknown): word is PipelineSnapshot['status'] {
  return typeof word === 'string' && statuses.includes(word);
}

/**
 * Creates a reader of pipeline status. Each snapshot costs one request to the service, and every
 * ten seconds a second one for the history.
 */
export function createSnapshots(finder: Finder) {
  const histories = new Map<string, { points: number[]; until: number }>();

  async function historyOf({ request, org }: Scope, path: string): Promise<number[]> {
    const now = Date.now();
    const key = `${org} ${path}`;
    const last = histories.get(key);
    if (last && last.until > now) return last.points;
    for (const [old, { until }] of histories) if (until <= now) histories.delete(old);
    const metrics = fieldsOf(await request(`${path}/metrics`).catch(nullIfNotFound));
    const seconds = countOf(metrics['interval_seconds']) || 1;
    const points = listOf(metrics['points']).map(({ ingress }) => countOf(fieldsOf(ingress)['records']) / seconds);
    histories.set(key, { points, until: now - (now % interval) + interval + moment });
    return points;
  }

  /** Resolves to `null` if the input has no pipeline. */
  return async function snapshotOf(scope: Scope, id: string): Promise<PipelineSnapshot | null> {
    for (let tries = 0; tries < 2; tries += 1) {
      const found = await finder.find(scope, id);
      if (!found) return null;
      const path = `/v2/${encodeURIComponent(scope.org)}/pipelines/${encodeURIComponent(found.pipelineId)}`;
      const state = fieldsOf(await scope.request(`${path}/status`).catch(nullIfNotFound));
      if (state['status'] !== undefined) {
        const problem = fieldsOf(state['last_error']);
        return {
          pipelineId: found.pipelineId,
          outputId: found.outputId ?? null,
          status: isStatus(state['status']) ? state['status'] : 'Unknown',
          received: countOf(fieldsOf(state['ingress'])['records']),
          delivered: countOf(fieldsOf(state['egress'])['records']),
          errors: countOf(state['errors']),
          waiting: countOf(state['waiting']),
          dropped: countOf(state['dropped']),
          lost: countOf(fieldsOf(state['lost'])['records']),
          lastRecordAt: textOf(state['last_ingested_time']),
          problem: textOf(problem['message']),
          suspension: textOf(fieldsOf(state['suspension'])['message']),
          history: await historyOf(scope, path),
        };
      }
      // The cached pipeline no longer exists: look it up again.
      finder.forget(scope, id);
    }
    return null;
  };
}
