import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { limits, readEnv } from '../../packages/service/src/limits.js';
import { limitIn, simulated, simulation, slopes, type Load, type Result, type Slopes } from '../support/simulation.js';

const { TOPOLOGIES, simulate, exceededBy, grow, readOptions, sizingPage } = simulation;

describe('with slopes that are easy to multiply', () => {
  const of = (values: Record<string, number>): Slopes =>
    Object.fromEntries(Object.entries(values).map(([id, value]) => [id, { value, unit: '', how: '' }]));
  const easy = of({
    'node.heap-limit': 1_000_000,
    'disk.syncs': 1_000,
    'server.connections': 100,
    'server.reserved-connections': 3,
    'postgres.base.cpu.service': 10,
    'postgres.pipeline.cpu.service': 0.5,
    'postgres.request.cpu.service': 2,
    'postgres.record.cpu.service': 0.01,
    'postgres.byte.cpu.service': 0.0001,
    'postgres.report.cpu.service': 3,
    'postgres.http-request.cpu.service': 4,
    'postgres.http-record.cpu.service': 0.02,
    'postgres.base.cpu.database': 20,
    'postgres.request.cpu.database': 1,
    'postgres.base.heap': 100_000,
    'postgres.pipeline.heap': 2_000,
    'postgres.tenant.rows.organizations': 1,
    'postgres.pipeline.rows.connectors': 2,
    'postgres.connector.rows.connectors': 1,
    'postgres.traffic.rows.usage_series': 2,
    'row.bytes.pipeline_counts': 100,
    'row.bytes.usage_counts': 50,
  });
  const words =
    '--organizations 5 --pipelines 100 --records-per-second 1000 --record-bytes 200 --records-per-request 50';
  const { usage, ...result } = simulated('postgres', words.split(' '), { given: easy });

  it('adds up the CPU time of what happens in a second', () => {
    // 1,000 records are 20 requests; each pipeline gets one every five seconds, so each of them is
    // reported and is one request to the output.
    // Service: 10 + 100 x 0.5 + 20 x 2 + 1,000 x 0.01 + 200,000 x 0.0001 + 20 x 3 + 20 x 4 + 1,000 x 0.02
    expect(usage.cores.service).toBeCloseTo(0.29, 10);
    expect(usage.busiest).toBeCloseTo(0.29, 10);
    // Database: 20 + 20 x 1
    expect(usage.cores.database).toBeCloseTo(0.04, 10);
    expect(usage.heap).toBe(100_000 + 100 * 2_000);
  });

  it('counts rows', () => {
    expect(usage.rows['organizations']).toBe(5);
    expect(usage.rows['connectors']).toBe(200);
    // packages/service/README.md: counts by the minute for a day, then by the hour for METRICS_DAYS (90).
    expect(usage.rows['pipeline_counts']).toBeCloseTo(100 * (24 * 60 + 89 * 24), 6);
    // Usage by the minute for 25 hours, then by the hour for USAGE_DAYS (1,100); of two nodes.
    expect(usage.rows['usage_counts']).toBeCloseTo(100 * 2 * (25 * 60 + 1_100 * 24 - 25), 6);
    expect(usage.bytesPerDay).toMatchObject({ counts: 100 * 1_440 * 100, usage: 100 * 2 * 1_440 * 50 });
  });

  it('says at which growth a limit is reached', () => {
    // CPU: 0.01 cores of the base, and 0.28 that grow, up to 0.7.
    expect(limitIn(result as Result, 'process-cpu').at).toBeCloseTo(0.69 / 0.28, 6);
    // Memory: 100,000 of the base, and 200,000 that grow, up to 700,000.
    expect(limitIn(result as Result, 'heap').at).toBeCloseTo(3, 6);
    // 20 requests a second, up to 700.
    expect(limitIn(result as Result, 'syncs').at).toBeCloseTo(35, 6);
    // One process has 20 connections of 97, however large the load is.
    expect(limitIn(result as Result, 'connections')).toMatchObject({ used: 20, limit: 97, at: Infinity });
  });

  it('polls instead of receiving', () => {
    const polled = simulated('postgres', [...words.split(' '), '--polled', '100', '--poll-seconds', '20'], {
      given: { ...easy, ...of({ 'poll.cpu.service': 7, 'polled-pipeline.heap': 3_000 }) },
    }).usage;
    // 10 + 100 x 0.5, 5 polls x 7, 5 pages reported x 3, 5 requests to outputs x 4, and 1,000 records x 0.02
    expect(polled.cores.service).toBeCloseTo(0.15, 10);
    expect([polled.streams, polled.heap]).toEqual([0, 100_000 + 100 * 3_000]);
  });
});

describe('with the measured slopes', () => {
  const words =
    '--organizations 100 --pipelines 2000 --records-per-second 5000 --record-bytes 600 --calls-per-second 5'.split(' ');

  it.each(TOPOLOGIES)('%s: needs as much or more for each part of the load that grows', (topology) => {
    const { load, plan } = readOptions(words, slopes, TOPOLOGIES);
    const known = { slopes, limits, env: readEnv({}), plan };
    const amountsOf = (given: Load): Record<string, number> => {
      const { usage } = simulate(topology, given, known);
      const single = Object.entries(usage).filter(([name, value]) => typeof value === 'number' && name !== 'busiest');
      return { ...Object.fromEntries(single), ...usage.rows, ...usage.bytesPerDay, ...usage.cores, ...usage.memory };
    };
    const parts = [
      'organizations',
      'pipelines',
      'connectors',
      'recordsPerSecond',
      'recordBytes',
      'callsPerSecond',
    ] as const;
    const before = amountsOf(load);
    expect(Object.values(before).every(Number.isFinite)).toBe(true);
    for (const part of parts) {
      const more = amountsOf({ ...load, [part]: load[part] * 2 });
      // Sums of the same numbers in another order differ by less.
      for (const [name, amount] of Object.entries(before))
        expect(more[name], `${name} with more ${part}`).toBeGreaterThanOrEqual(amount * (1 - 1e-9));
    }
  });

  it.each(TOPOLOGIES)('%s: a limit is exceeded behind the growth that it names, and not before', (topology) => {
    const { load, plan } = readOptions(words, slopes, TOPOLOGIES);
    const known = { slopes, limits, env: readEnv({}), plan };
    const { coming } = simulate(topology, load, known);
    expect(coming.length).toBeGreaterThan(2);
    const ids = (factor: number) => exceededBy(topology, grow(load, factor), known);
    for (const { id, at } of coming) {
      expect(ids(at * 1.001)).toContain(id);
      expect(ids(at * 0.999)).not.toContain(id);
    }
    // Nothing else comes before the first one.
    const [next] = coming;
    expect(ids((next?.at ?? 1) * 0.999)).toEqual(ids(1));
  });

  it('reads the variables of the service', () => {
    const days = (USAGE_DAYS: string) => simulated('postgres', words, { environment: { USAGE_DAYS } }).usage.rows;
    expect(days('400')['usage_counts']).toBeLessThan(days('1100')['usage_counts'] ?? 0);
    expect(
      simulated('nats', words, {
        environment: { DATABASE_URL: 'postgres://x/y', NATS_URL: 'nats://x', NATS_STREAMS: '16' },
      }).usage.jetStreamStreams,
    ).toBe(16);
  });

  it('knows the unit of each slope, and how it was measured', () => {
    for (const [id, { value, unit, how }] of Object.entries(slopes)) {
      expect(value, id).toBeGreaterThanOrEqual(0);
      expect(unit, id).not.toBe('');
      expect(how, id).toMatch(/^[A-Z\d].*\.$/);
    }
  });
});

it('docs/guides/sizing.md has what the command prints', async () => {
  const text = readFileSync(new URL('../../docs/guides/sizing.md', import.meta.url), 'utf8');
  expect(text === (await sizingPage(text)), 'docs/guides/sizing.md is outdated; run `npm run simulate -- --page`').toBe(
    true,
  );
});
