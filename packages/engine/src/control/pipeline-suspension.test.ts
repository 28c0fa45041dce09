import { expect, test } from 'vitest';
import { createEmbeddedCoordinator } from '../coordinator/embedded-coordinator.js';
import { Collector, graph, numbered, numbersUpTo, openWorld } from '../testing/pipeline-fixture.js';
import { codes, fast, push, status } from '../../../../test/support/pipeline-parts.js';
import { readPipelineState } from './read-pipeline-state.js';

const suspension = { code: 'quota', message: 'The quota is used up.', until: Date.UTC(2030, 0, 2) };
const shown = { reason: 'quota', message: 'The quota is used up.', until: '2030-01-02T00:00:00.000Z' };
const refused = { stored: false, reason: 'suspended', suspension };

test('a suspended push input accepts nothing, keeps what it has, and continues with it', async () => {
  const world = await openWorld();
  const out = new Collector();
  const definition = graph('in out', 'in>out');
  const runner = world.runner({ definition, inputs: { in: push }, outputs: { out } });
  await runner.start();
  expect(await runner.sink.append(numbered(10))).toMatchObject({ stored: true });
  await expect.poll(() => out.numbers.length).toBe(10);
  await runner.pause();
  expect(await runner.sink.append(numbered(5, 10))).toMatchObject({ stored: true });
  await runner.suspend(suspension);
  await runner.resume();
  expect(await runner.state()).toMatchObject({ status: 'Disabled', suspension: shown, waiting: 5 });
  expect(runner.summary(true)).toMatchObject({ status: 'Disabled' });
  expect([await runner.full(), await runner.sink.append(numbered(1, 15))]).toEqual([refused, refused]);
  // Another process reads it from the report.
  const coordinator = createEmbeddedCoordinator({ store: world.store });
  const read = await readPipelineState(coordinator, definition, Date.now());
  expect(read).toMatchObject({ status: 'Disabled', suspension: shown });
  const waiting = runner.sink.append(numbered(1, 15), { waitMs: 60_000 });
  await runner.suspend({ ...suspension, message: 'Another quota is used up, too.' });
  await runner.suspend(undefined);
  expect(await waiting).toMatchObject({ stored: true });
  await expect.poll(() => out.numbers).toEqual(numbersUpTo(16));
  expect(await runner.state()).toMatchObject({ status: 'Running', suspension: null, ingress: { records: 16 } });
  expect(codes(runner)).toEqual(expect.arrayContaining(['suspended', 'unsuspended']));
});

test('an append that waits for the end of a suspension ends with its time, its signal and the runner', async () => {
  const world = await openWorld();
  const outputs = { out: new Collector() };
  const runner = world.runner({ definition: graph('in out', 'in>out'), inputs: { in: push }, outputs, suspension });
  await runner.start();
  const leaving = new AbortController();
  const left = runner.sink.append(numbered(1), { waitMs: 60_000, signal: leaving.signal });
  const stopped = runner.sink.append(numbered(1), { waitMs: 60_000 });
  expect(await runner.sink.append(numbered(1), { waitMs: 5 })).toEqual(refused);
  leaving.abort();
  expect(await left).toEqual(refused);
  await runner.stop();
  expect(await stopped).toEqual({ stored: false, reason: 'closed' });
});

test('a polled input is not read while it is suspended, from its start', async () => {
  const world = await openWorld();
  const out = new Collector();
  const runner = world.runner({
    definition: graph('in out', 'in>out'),
    inputs: { in: fast(100) },
    outputs: { out },
    suspension,
  });
  await runner.start();
  await expect.poll(() => status(runner)).toBe('Disabled');
  expect(await runner.state()).toMatchObject({ suspension: shown, ingress: { records: 0 } });
  // A paused pipeline would not run without the suspension, either.
  expect(await runner.state(false)).toMatchObject({ status: 'Disabled', suspension: null });
  await runner.suspend(undefined);
  await expect.poll(() => out.numbers).toEqual(numbersUpTo(100));
});
