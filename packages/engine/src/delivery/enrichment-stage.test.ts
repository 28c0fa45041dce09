import { expect, test } from 'vitest';
import { ConnectorError, type Enrichment, type LookedUp, type PushInput } from '../connector-api/index.js';
import { Collector, graph, numbered, numbersUpTo, openWorld } from '../testing/pipeline-fixture.js';

const push: PushInput = { kind: 'push' };

/** A table in memory that notes its lookups. Every key is in it, unless `lookUp` says otherwise. */
class Table implements Enrichment {
  readonly joinPath = ['n'];
  readonly destination: readonly string[] = ['user', 'found'];
  omitMetadata = false;
  unmatched: Enrichment['unmatched'] = { code: 'key_not_found', message: 'key not found', data: 'none' };
  readonly example = {};
  readonly cacheMs: number = 10_000;
  readonly asked: string[][] = [];
  opened = 0;
  closed = 0;
  respond: (keys: readonly string[], signal: AbortSignal) => LookedUp | Promise<LookedUp> = all;

  open(): Promise<void> {
    this.opened += 1;
    return Promise.resolve();
  }

  async lookUp(keys: readonly string[], signal: AbortSignal): Promise<LookedUp> {
    this.asked.push([...keys]);
    return this.respond(keys, signal);
  }

  close(): Promise<void> {
    this.closed += 1;
    return Promise.resolve();
  }
}

const success = (key: string) => ({ code: 'success', message: 'key found', data: { name: `user ${key}` } });
const all = (keys: readonly string[]): LookedUp => ({ results: new Map(keys.map((key) => [key, success(key)])) });
const enriched = (n: number) => ({
  n,
  user: { found: { join_key: String(n), message: 'key found', code: 'success', data: { name: `user ${n}` } } },
});
const missing = (join_key: string | null) => ({
  found: { join_key, message: 'key not found', code: 'key_not_found', data: 'none' },
});
const down = () => new ConnectorError('down', 'The table does not respond.');

async function world(
  table: Enrichment,
  shape: readonly [names: string, connections: string] = ['in e1 out', 'in>e1 e1>out'],
) {
  const opened = await openWorld();
  const outputs = { out: new Collector(), other: new Collector() };
  const made = opened.runner({
    definition: graph(...shape),
    inputs: { in: push },
    outputs,
    enrichments: { e1: table },
  });
  await made.start();
  const nodeOf = async (id: string) => (await made.state()).nodes.find((node) => node.node_id === id);
  return { runner: made, ...outputs, deadLetters: () => opened.deadLetters(), nodeOf };
}

test('puts a result into each record, in order, with one lookup per batch for keys that it does not know yet', async () => {
  const table = new Table();
  const { runner, out, nodeOf } = await world(table);
  await runner.sink.append(numbered(300));
  await expect.poll(() => out.records.length).toBe(300);
  await runner.sink.append([...numbered(300), ...numbered(10, 300)]);
  await expect.poll(() => out.records.length).toBe(610);
  expect(out.records).toEqual([...numbersUpTo(300), ...numbersUpTo(310)].map(enriched));
  expect(table.asked).toEqual([numbersUpTo(300).map(String), numbersUpTo(310).slice(300).map(String)]);
  const node = await nodeOf('e1');
  expect(node).toMatchObject({ component_type: 'enrichment', status: 'Running', errors: 0, error: null });
  expect([node?.ingress.records, node?.egress.records]).toEqual([610, 610]);
  await runner.stop();
  expect([table.opened, table.closed]).toEqual([1, 1]);
});

test('records without a match go on, or to the dead letters of the node', async () => {
  const table = new Table();
  table.respond = (keys) => all(keys.filter((key) => key !== '1'));
  const lines = ['{"n":1}', '{"n":null}', '{"n":{"a":1}}', '{}', '{"n":2}', '{"n":3,"user":"text"}'];
  const { runner, out, deadLetters, nodeOf } = await world(table);
  await runner.sink.append(lines);
  await expect.poll(() => out.records.length).toBe(5);
  expect(out.records).toEqual([
    { n: 1, user: missing('1') },
    { n: null, user: missing(null) },
    { n: { a: 1 }, user: missing(null) },
    { user: missing(null) },
    enriched(2),
  ]);
  expect((await deadLetters()).map(({ node_id, reason }) => [node_id, reason])).toEqual([
    ['e1', 'not_an_object: Nothing can be put at found: what holds it is no object.'],
  ]);

  const strict = new Table();
  strict.unmatched = { rejected: 'key_not_found' };
  strict.omitMetadata = true;
  strict.respond = table.respond;
  const second = await world(strict);
  await second.runner.sink.append(lines.slice(0, 5));
  await expect.poll(() => second.out.records).toEqual([{ n: 2, user: { found: { name: 'user 2' } } }]);
  const letters = await second.deadLetters();
  expect(letters.map(({ node_id, reason, record }) => [node_id, reason, JSON.stringify(record)])).toEqual(
    lines.slice(0, 4).map((line) => ['e1', 'key_not_found', line]),
  );
  await expect.poll(async () => (await second.nodeOf('e1'))?.errors).toBe(4);
  expect((await nodeOf('e1'))?.errors).toBe(1);
});

test('a lookup that fails is retried, shows at its node, and holds back only the outputs behind it', async () => {
  const table = new Table();
  let broken = true;
  table.respond = (keys) => {
    if (!broken) return all(keys);
    return { results: all(keys.filter((key) => key < '2')).results, failure: down() };
  };
  const { runner, out, other, nodeOf, deadLetters } = await world(table, ['in e1 out other', 'in>e1 e1>out in>other']);
  await runner.sink.append(numbered(6));
  await runner.sink.append(numbered(6, 6));
  await expect.poll(() => other.numbers).toEqual(numbersUpTo(12));
  await expect.poll(async () => (await nodeOf('e1'))?.status).toBe('Erroring');
  expect((await nodeOf('e1'))?.error).toMatchObject({ code: 'down' });
  expect(out.records).toEqual([]);
  // What was looked up before a failure is not looked up again.
  await expect.poll(() => table.asked.length).toBeGreaterThan(3);
  expect(table.asked.slice(0, 3)).toEqual([
    ['0', '1', '2', '3', '4', '5'],
    ['2', '3', '4', '5'],
    ['2', '3', '4', '5'],
  ]);
  broken = false;
  await expect.poll(() => out.records).toEqual(numbersUpTo(12).map(enriched));
  expect(await deadLetters()).toEqual([]);
  await expect.poll(async () => (await nodeOf('e1'))?.status).toBe('Running');
});

test('an enrichment that does not open holds back the outputs behind it, and no others', async () => {
  const table = new Table();
  let broken = true;
  table.open = () =>
    broken ? Promise.reject(new ConnectorError('not_found', 'No file.', 'permanent')) : Promise.resolve();
  const { runner, out, other, nodeOf } = await world(table, ['in e1 out other', 'in>e1 e1>out in>other']);
  await runner.sink.append(numbered(3));
  await expect.poll(() => other.numbers).toEqual([0, 1, 2]);
  await expect.poll(async () => (await nodeOf('e1'))?.needs_attention).toBe(true);
  expect(out.records).toEqual([]);
  broken = false;
  runner.retryNow();
  await expect.poll(() => out.records).toEqual([0, 1, 2].map(enriched));
});

test('a lookup that does not return ends when the pipeline pauses, and nothing is lost', async () => {
  const table = new Table();
  let hangs = true;
  const signals: AbortSignal[] = [];
  table.respond = async (keys, signal) => {
    if (!hangs) return all(keys);
    signals.push(signal);
    return new Promise(() => undefined);
  };
  const { runner, out } = await world(table);
  await runner.sink.append(numbered(3));
  await expect.poll(() => signals.length).toBe(1);
  await runner.pause();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  hangs = false;
  await runner.resume();
  await expect.poll(() => out.records).toEqual([0, 1, 2].map(enriched));
});

test('outputs behind one enrichment share its lookups; each path has its own dead letter', async () => {
  const table = new Table();
  const release: (() => void)[] = [];
  table.respond = async (keys) => {
    await new Promise<void>((resolve) => release.push(resolve));
    return all(keys.filter((key) => key !== '1'));
  };
  table.unmatched = { rejected: 'key_not_found' };
  const { runner, out, other, deadLetters, nodeOf } = await world(table, ['in e1 out other', 'in>e1 e1>out e1>other']);
  await runner.sink.append(numbered(3));
  await expect.poll(() => release.length).toBe(1);
  release[0]?.();
  await expect
    .poll(() => [out.numbers, other.numbers])
    .toEqual([
      [0, 2],
      [0, 2],
    ]);
  expect(table.asked).toEqual([['0', '1', '2']]);
  expect((await deadLetters()).map(({ record }) => record)).toEqual([{ n: 1 }, { n: 1 }]);
  const node = await nodeOf('e1');
  expect([node?.ingress.records, node?.egress.records]).toEqual([3, 2]);
});
