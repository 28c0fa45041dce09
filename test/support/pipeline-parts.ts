import { createSyntheticInput } from '../../packages/connectors/src/synthetic/synthetic-input.js';
import type { Input } from '../../packages/engine/src/connector-api/index.js';
import type { PipelineRunner } from '../../packages/engine/src/control/pipeline-runner.js';

/** Parts shared by several tests of the runner. */
export const push: Input = { kind: 'push' };
export const shape = (n: number) => ({ n });
export const fast = (total: number) => createSyntheticInput({ rate: 50_000, total, shape });

export const above = (value: number) => ({
  operator: 'and' as const,
  conditions: [{ type_id: 'greater_than' as const, config: { key: 'n', value } }],
});
export const add = (value: string) => ({
  operations: [{ operation: 'add' as const, arguments: { key: 'by', value } }],
});

export const status = async (runner: PipelineRunner) => (await runner.state()).status;
export const codes = (runner: PipelineRunner) => runner.log.entries().map(({ code }) => code);
