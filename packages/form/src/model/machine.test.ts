import { describe, expect, it } from 'vitest';
import { transition, type FormEvent } from './machine.js';
import type { Failure, FormState, FormSubject } from './state.js';

const subject: FormSubject = {
  mode: 'create',
  title: 'Okta',
  subtitle: '',
  icon: null,
  monogram: 'OK',
  hue: 0,
  canTest: true,
  fields: [],
  advanced: [],
};
const failure: Failure = { code: 'save_failed', message: 'Not saved' };
const loading: FormState = { phase: 'loading' };
const failed: FormState = { phase: 'load_failed', failure, canRetry: true };
const editing: FormState = { phase: 'editing', subject, saving: false, test: { state: 'idle' }, expired: false };
const passed = { state: 'passed', durationMs: 1 } as const;

const events: readonly FormEvent[] = [
  { type: 'loading' },
  { type: 'loaded', subject },
  { type: 'load_failed', failure, canRetry: true },
  { type: 'edited' },
  { type: 'rejected' },
  { type: 'saving' },
  { type: 'saved' },
  { type: 'save_failed', failure },
  { type: 'testing' },
  { type: 'tested', test: passed },
  { type: 'expired', failure },
  { type: 'renewed' },
  { type: 'rebased' },
  { type: 'online' },
];
const offline: Failure = { code: 'offline', message: 'You are offline' };
const tested = { state: 'failed', failure } as const;

describe('transition', () => {
  it.each([
    [loading, { type: 'loaded', subject }, editing],
    [loading, { type: 'load_failed', failure, canRetry: true }, failed],
    [failed, { type: 'loading' }, loading],
    [editing, { type: 'saving' }, { ...editing, saving: true }],
    [{ ...editing, saving: true }, { type: 'saved' }, { phase: 'saved', subject }],
    [
      { ...editing, saving: true },
      { type: 'save_failed', failure },
      { ...editing, failure },
    ],
    [{ ...editing, saving: true }, { type: 'save_failed' }, editing],
    [{ ...editing, failure }, { type: 'saving' }, { ...editing, saving: true }],
    [{ ...editing, failure }, { type: 'rejected' }, editing],
    [{ ...editing, failure }, { type: 'testing' }, { ...editing, test: { state: 'running' } }],
    [editing, { type: 'tested', test: passed }, { ...editing, test: passed }],
    [{ ...editing, test: passed }, { type: 'edited' }, editing],
    [
      { ...editing, saving: true },
      { type: 'expired', failure },
      { ...editing, failure, expired: true },
    ],
    [{ ...editing, failure, expired: true }, { type: 'renewed' }, editing],
    [{ ...editing, failure, expired: true }, { type: 'saving' }, { ...editing, saving: true }],
    [{ ...editing, failure }, { type: 'rebased' }, editing],
    [{ ...editing, failure: offline }, { type: 'online' }, editing],
    [{ ...editing, test: { state: 'failed', failure: offline } }, { type: 'online' }, editing],
    [{ ...editing, failure }, { type: 'online' }, { ...editing, failure }],
    [{ ...editing, test: tested }, { type: 'online' }, { ...editing, test: tested }],
    [{ ...editing, test: tested }, { type: 'rejected' }, editing],
    [{ ...editing, test: tested }, { type: 'saving' }, { ...editing, saving: true }],
  ] satisfies [FormState, FormEvent, FormState][])('%j, %j -> %j', (state, event, next) => {
    expect(transition(state, event)).toEqual(next);
  });

  it('returns the same state for an event that does not apply or changes nothing', () => {
    const saved: FormState = { phase: 'saved', subject };
    for (const event of events) expect(transition(saved, event)).toBe(saved);
    for (const event of events.slice(3)) expect(transition(loading, event)).toBe(loading);
    for (const event of events.slice(1)) expect(transition(failed, event)).toBe(failed);
    for (const type of ['loading', 'edited', 'renewed'] as const) expect(transition(editing, { type })).toBe(editing);
  });
});
