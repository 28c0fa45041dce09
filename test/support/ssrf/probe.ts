import type { ConnectorConfig } from '@connector-frame/catalog';
import type { Egress } from '../../../packages/engine/src/egress/index.js';
import { failureOf } from '../../../packages/engine/src/connector-api/index.js';
import { awsRoles as aws } from '../aws-roles.js';
import { collectingSink } from '../collecting-sink.js';
import { attempt, hurriedClock, noted } from '../output-attempt.js';
import { runs, type Target } from './targets.js';

/** Result of an attempt to connect: `passed`, or the reason of the failure. */
export interface Probed {
  /** Result of the connection test; `undefined` if the type has none. */
  test?: string;
  /** Result of the first page, batch or lookup; `undefined` if the type has no runtime. */
  run?: string;
}

/** Runs the connection test as the service does, and the runtime as the engine does. */
export async function probe(target: Target, config: ConnectorConfig, egress: Egress): Promise<Probed> {
  const { testConnection } = target.code;
  const found: Probed = {};
  if (testConnection) {
    const outcome = await testConnection(config, { egress, aws, signal: new AbortController().signal });
    found.test = outcome.ok ? 'passed' : outcome.reason;
  }
  if (runs(target.code)) found.run = await run(target, config, egress);
  return found;
}

async function run({ type, code }: Target, config: ConnectorConfig, egress: Egress): Promise<string> {
  const context = { type, egress, clock: hurriedClock(), aws };
  const stop = new AbortController();
  try {
    if (code.createOutput) {
      const output = code.createOutput(config, context);
      try {
        return (await attempt(output, noted(1), stop.signal)).failure?.code ?? 'passed';
      } finally {
        await output.close?.();
      }
    }
    if (code.createEnrichment) {
      const { failure } = await code.createEnrichment(config, context).lookUp(['1.2.3.4'], stop.signal);
      return failure?.code ?? 'passed';
    }
    const input = code.createInput?.(config, context);
    if (input?.kind === 'push') {
      try {
        await input.start?.(collectingSink());
      } finally {
        await input.close?.();
      }
      return 'passed';
    }
    if (input?.kind !== 'pages') throw new Error(`${type.type_id} does not read pages.`);
    const pages = input.pages(undefined, stop.signal)[Symbol.asyncIterator]();
    // A first page without records may only store a cursor.
    if ((await pages.next()).value?.records.length === 0) await pages.next();
    await pages.return?.();
    return 'passed';
  } catch (error) {
    return failureOf(error).code;
  } finally {
    stop.abort();
  }
}
