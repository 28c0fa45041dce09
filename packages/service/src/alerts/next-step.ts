import type { Alert } from '../store/alerts.js';
import type { Condition, Verdict } from './rule-type.js';

/**
 * What happens to an alert. `fire`: a new incident. `remind`: it is sent again. `clear`: the condition
 * no longer holds. `continue`: it holds again before the alert was resolved.
 */
export type Step = 'fire' | 'remind' | 'clear' | 'continue' | 'resolve';

export interface Limits {
  /** Milliseconds for which the condition must not hold before the alert is resolved. */
  clearMs: number;
  /** Milliseconds until a firing alert is sent again. `undefined`: never. */
  remindMs: number | undefined;
}

/** Returns the next step in the life of an alert, or `undefined` if nothing changes. */
export function nextStep(
  incident: Pick<Alert, 'firedAt' | 'clearingStartedAt'> | undefined,
  verdict: Verdict,
  now: number,
  { clearMs, remindMs }: Limits,
): Step | undefined {
  if (!incident) return verdict === 'holds' ? 'fire' : undefined;
  const { firedAt, clearingStartedAt } = incident;
  if (verdict === 'holds') {
    if (remindMs !== undefined && isOver(firedAt, remindMs, now)) return 'remind';
    return clearingStartedAt ? 'continue' : undefined;
  }
  if (verdict === 'unknown') return undefined;
  if (!clearingStartedAt) return 'clear';
  return isOver(clearingStartedAt, clearMs, now) ? 'resolve' : undefined;
}

/** Also true after the clock was set back by more than that, so that nothing waits for its old time. */
const isOver = (since: Date, ms: number, now: number): boolean => Math.abs(now - since.getTime()) >= ms;

const MIN_CLEAR_MS = 60_000;
const MAX_CLEAR_MS = 600_000;

/**
 * Returns for how long a condition must not hold before its alert is resolved: as long as its window,
 * at least one minute and at most ten; one minute without a window. Shorter interruptions are part of
 * the same incident.
 */
export function clearMsOf(condition: Condition): number {
  if (condition.reads === 'log' || condition.reads === 'cost') return MIN_CLEAR_MS;
  return Math.min(MAX_CLEAR_MS, Math.max(MIN_CLEAR_MS, condition.window.ms));
}
