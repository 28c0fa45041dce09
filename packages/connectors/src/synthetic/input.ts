import { createSyntheticInput } from './synthetic-input.js';
import type { Clock, PageInput } from '@connector-frame/engine/connector-api';
import { shapeOf, type ShapedType } from './shape-of.js';

/** Records per second, if the configuration has no field for it. */
const RATE = 5;

/** Generates records that look like those of a type, at a fixed rate. Makes no connections. */
export function createSyntheticInputOf(
  type: ShapedType,
  { rate = RATE, clock }: { rate?: number; clock: Clock },
): PageInput {
  return createSyntheticInput({ rate, clock, shape: shapeOf(type) });
}
