import { expect, test } from 'vitest';
import { isFrameMessage } from './is-frame-message.js';

const source = 'monad-embed';

test.each([
  { source, type: 'ready', version: 1 },
  { source, type: 'ready', version: 2, reportsLoad: true },
  { source, type: 'loaded' },
  { source, type: 'loaded', title: 'Okta System Log' },
  { source, type: 'resize', height: 0 },
  { source, type: 'saved', connector: { id: 'con_1' } },
  { source, type: 'saved', connector: { id: 'con_1', name: '' } },
  { source, type: 'saved', connector: { id: 'con_1', name: null } },
  { source, type: 'error', message: '', code: 'unknown_to_us' },
  { source, type: 'error', message: 'x'.repeat(65_536) },
  { source, type: 'error', message: 'no code', code: null },
  { source, type: 'cancel' },
  { source, type: 'session_request', extra: true },
  { source, type: 'ready', version: 1, answersLeave: true },
  { source, type: 'left' },
  { source, type: 'dirty', dirty: true },
])('accepts %j', (message) => {
  expect(isFrameMessage(message)).toBe(true);
});

test.each([
  undefined,
  null,
  'ready',
  0,
  [],
  { type: 'cancel' },
  { source: 'other', type: 'cancel' },
  { source, type: 'unknown' },
  { source, type: 'leave' },
  { source, type: 'command', command: 'save' },
  { source: 'other', type: 'left' },
  { source, type: 'hasOwnProperty' },
  { source, type: ['cancel'] },
  { source, type: 'loaded', title: 5 },
  { source, type: 'loaded', title: 'x'.repeat(65_537) },
  { source, type: 'ready', version: Number.NaN },
  { source, type: 'resize', height: Number.POSITIVE_INFINITY },
  { source, type: 'saved', connector: [] },
  { source, type: 'saved', connector: null },
  { source, type: 'saved', connector: 'con_1' },
  { source, type: 'saved', connector: { id: null } },
  { source, type: 'saved', connector: { id: 'con_1', name: 7 } },
  { source, type: 'error', code: 'x' },
  { source, type: 'error', message: 'x', code: 7 },
  { source, type: 'error', message: 'x', code: 'x'.repeat(65_537) },
  { source, type: 'error', message: 'x'.repeat(65_537), code: 'x' },
])('rejects %j', (message) => {
  expect(isFrameMessage(message)).toBe(false);
});
