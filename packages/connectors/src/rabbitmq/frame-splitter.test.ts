import { expect, test } from 'vitest';
import { FrameSplitter } from './frame-splitter.js';

/** A heartbeat frame of the specification: type 8, channel 0, no payload, 206 at the end. */
const HEARTBEAT = [8, 0, 0, 0, 0, 0, 0, 206];
const BODY = [3, 0, 1, 0, 0, 0, 3, 7, 8, 9, 206];

test('finds frames however the stream is cut', () => {
  const stream = Uint8Array.from([...HEARTBEAT, ...BODY, ...HEARTBEAT]);
  for (let cut = 1; cut < stream.length; cut += 1) {
    const splitter = new FrameSplitter(1_000);
    const frames = [];
    for (let at = 0; at < stream.length; at += cut) frames.push(...splitter.push(stream.subarray(at, at + cut)));
    expect(frames.map((frame) => [...frame])).toEqual([HEARTBEAT, BODY, HEARTBEAT]);
  }
});

test('refuses a frame beyond the limit before it is there', () => {
  const splitter = new FrameSplitter(1_000);
  expect(() => splitter.push(Uint8Array.from([3, 0, 1, 0, 0, 4, 0]))).toThrow('too large');
});
