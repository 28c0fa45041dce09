import { createEgress } from '../../packages/engine/src/egress/index.js';
import type { Tester, TesterConfig, TestOutcome } from '../../packages/engine/src/connector-api/index.js';

/** Runs a tester against this machine: egress allows loopback and trusts `ca`. */
export function runTester(tester: Tester, config: TesterConfig, ca?: string): Promise<TestOutcome> {
  const egress = createEgress({ allow: ['127.0.0.0/8', '::1/128'], timeoutMs: 5_000, ...(ca !== undefined && { ca }) });
  return tester(config, { egress, signal: new AbortController().signal });
}
