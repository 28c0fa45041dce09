import { expect, it } from 'vitest';
import { nextStep } from './next-step.js';

const NOW = Date.UTC(2030, 0, 1);
const limits = { clearMs: 60_000, remindMs: 3_600_000 };
const ago = (ms: number): Date => new Date(NOW - ms);
const firing = { firedAt: ago(120_000), clearingStartedAt: null };

it('fires only if the condition holds', () => {
  expect(nextStep(undefined, 'holds', NOW, limits)).toBe('fire');
  expect(nextStep(undefined, 'clear', NOW, limits)).toBeUndefined();
  expect(nextStep(undefined, 'unknown', NOW, limits)).toBeUndefined();
});

it('sends an alert again after the interval, while the condition holds', () => {
  expect(nextStep(firing, 'holds', NOW, limits)).toBeUndefined();
  const old = { firedAt: ago(3_600_000), clearingStartedAt: null };
  expect(nextStep(old, 'holds', NOW, limits)).toBe('remind');
  expect(nextStep(old, 'holds', NOW, { ...limits, remindMs: undefined })).toBeUndefined();
  expect(nextStep(old, 'unknown', NOW, limits)).toBeUndefined();
  expect(nextStep(old, 'clear', NOW, limits)).toBe('clear');
});

it('resolves an alert after the condition has not held for a while, and continues it otherwise', () => {
  expect(nextStep(firing, 'clear', NOW, limits)).toBe('clear');
  const clearing = (ms: number) => ({ ...firing, clearingStartedAt: ago(ms) });
  expect(nextStep(clearing(59_000), 'clear', NOW, limits)).toBeUndefined();
  expect(nextStep(clearing(60_000), 'clear', NOW, limits)).toBe('resolve');
  expect(nextStep(clearing(59_000), 'holds', NOW, limits)).toBe('continue');
  expect(nextStep(clearing(90_000), 'holds', NOW, limits)).toBe('continue');
});

it('neither resolves nor continues an alert while nothing is known', () => {
  expect(nextStep({ ...firing, clearingStartedAt: ago(600_000) }, 'unknown', NOW, limits)).toBeUndefined();
});

it('does not wait for a time that the clock was set back from', () => {
  expect(nextStep({ ...firing, clearingStartedAt: ago(-86_400_000) }, 'clear', NOW, limits)).toBe('resolve');
  expect(nextStep({ ...firing, firedAt: ago(-86_400_000) }, 'holds', NOW, limits)).toBe('remind');
});
