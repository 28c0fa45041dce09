import { OVERFLOW_POLICIES, type ConsumerOptions, type OverflowPolicy } from '../bus/bus.js';
import { isRecord } from '../connector-api/record.js';
import type { Problems } from '../problem.js';
import type { Overflow, PipelineDefinition } from './definition.js';
import { routesOf } from './routes.js';

/** Smallest and largest budget of an output in bytes. A batch has up to 512 KiB. */
export const MIN_BUDGET_BYTES = 1024 * 1024;
export const MAX_BUDGET_BYTES = 2 ** 50;

/** Policies by how much they keep, the most first. */
const BY_KEPT: readonly OverflowPolicy[] = ['spill', 'block', 'drop_newest'];
const DEFAULT: Overflow = { policy: 'block' };

/**
 * Returns the outputs that read from the buffer of a pipeline. An output has one position, so if
 * several edges lead to it, the policy that keeps the most wins, and of its edges the largest
 * budget: records are only dropped if every edge asks for it.
 */
export function consumersOf(definition: Pick<PipelineDefinition, 'nodes' | 'edges'>): ConsumerOptions[] {
  return [...routesOf(definition)].map(([name, routes]) => {
    const given = routes.map((route) => overflowIn(route.at(-1)?.edge.overflow));
    const policy = BY_KEPT.find((each) => given.some((overflow) => overflow.policy === each)) ?? 'block';
    const budgets = given.filter((each) => each.policy === policy).map(({ max_bytes: bytes = Infinity }) => bytes);
    const maxBytes = Math.max(...budgets);
    return { name, policy, ...(Number.isFinite(maxBytes) && { maxBytes }) };
  });
}

/** Adds the problems of an edge's `overflow`. */
export function validateOverflow(value: unknown, problems: Problems): void {
  if (!isRecord(value)) return problems.add('type', 'An overflow policy is an object: { policy, max_bytes }.');
  const { policy, max_bytes: bytes } = value;
  if (!OVERFLOW_POLICIES.some((each) => each === policy))
    problems.at('policy').add('unknown', `A policy is one of ${OVERFLOW_POLICIES.join(', ')}.`);
  if (bytes !== undefined && !isBudget(bytes))
    problems
      .at('max_bytes')
      .add('invalid', `A budget is a whole number of bytes from ${MIN_BUDGET_BYTES} to ${MAX_BUDGET_BYTES}.`);
  return undefined;
}

const isBudget = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= MIN_BUDGET_BYTES && Number(value) <= MAX_BUDGET_BYTES;

/** A pipeline stored by another release may hold something else in this field. */
function overflowIn(value: Overflow | undefined): Overflow {
  if (!isRecord(value)) return DEFAULT;
  const { policy, max_bytes: bytes } = value;
  if (!OVERFLOW_POLICIES.some((each) => each === policy)) return DEFAULT;
  return bytes === undefined || isBudget(bytes) ? value : { policy };
}
