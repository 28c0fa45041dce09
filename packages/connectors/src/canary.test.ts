/**
 * S11, S21: the server echoes the secrets of every connector type in each part of a response. Test
 * outcomes, error messages and refusals must not contain them, in six encodings.
 */
import { inspect } from 'node:util';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCertificate } from '../../../test/support/certificate.js';
import { CANARY_HOST, canaryConfigs, type CanaryConfig } from '../../../test/support/canary/canary-configs.js';
import { modes, openEchoWorld, type EchoWorld } from '../../../test/support/canary/echo-world.js';
import { speaksHttp } from '../../../test/support/ssrf/targets.js';
import { dailyPart } from '../../../test/support/long.js';
import { hurriedClock, noted } from '../../../test/support/output-attempt.js';
import { encodings, findLeaks } from '../../../test/support/secret-texts.js';
import { BodyError, ConnectorError, type Egress, failureOf, RequestError } from '@connector-frame/engine/connector-api';

const certificate = createCertificate(CANARY_HOST);
const all = canaryConfigs(certificate);
const withSecrets = all.filter(
  ({ code, secrets }) => Object.keys(secrets).length > 0 && !code.receiver && !code.listens,
);
/** These share all code with Okta's, so the short run takes a part of them. */
const isAlike = ({ type }: CanaryConfig): boolean => type.poll !== undefined && type.type_id !== 'okta-systemlog';
const cases = [...withSecrets.filter((each) => !isAlike(each)), ...dailyPart(withSecrets.filter(isAlike), 6)];

let world: EchoWorld;
let folder: string;
beforeAll(async () => {
  const kafka = all.filter(({ type }) => type.type_id === 'kafka');
  world = await openEchoWorld(kafka.flatMap(({ secrets }) => Object.values(secrets)).join(' '), certificate);
  folder = await mkdtemp(join(tmpdir(), 'canary-'));
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

/**
 * Runs the connection test and the runtime once. Returns everything that users or logs could show:
 * outcomes, messages, stacks.
 */
async function trace({ type, code, config }: CanaryConfig, egress: Egress): Promise<string> {
  const seen: unknown[] = [];
  const stop = new AbortController();
  const context = { type, egress, clock: hurriedClock(), filesFolder: folder };
  const note = (error: unknown): void => {
    if (!(error instanceof ConnectorError)) throw error;
    seen.push(failureOf(error), error.message, error.stack);
  };
  if (code.testConnection) seen.push(await code.testConnection(config, { egress, signal: stop.signal }));
  try {
    const output = code.createOutput?.(config, context);
    if (output) {
      try {
        await output.open?.(stop.signal);
        seen.push(await output.write(noted(2), stop.signal));
      } finally {
        await output.close?.();
      }
    }
    const lookedUp = await code.createEnrichment?.(config, context).lookUp(['1.2.3.4'], stop.signal);
    if (lookedUp) seen.push([...lookedUp.results.values()].map((result) => ({ ...result, data: null })));
    if (lookedUp?.failure) note(lookedUp.failure);
    const input = code.createInput?.(config, context);
    if (input?.kind === 'pages') {
      const pages = input.pages(undefined, stop.signal)[Symbol.asyncIterator]();
      await pages.next();
      await pages.return?.();
    }
    seen.push(...(await traceReceiver({ type, code, config }, egress)));
  } catch (error) {
    note(error);
  } finally {
    stop.abort();
  }
  return inspect(seen, { depth: 10, maxStringLength: null }) + JSON.stringify(seen);
}

/** Sends requests to the receiver of a type, if it has one. Returns its responses and errors. */
async function traceReceiver(
  { type, code, config }: Pick<CanaryConfig, 'type' | 'code' | 'config'>,
  egress: Egress,
): Promise<unknown[]> {
  const seen: unknown[] = [];
  const receiver = code.createReceiver?.(config, { type, egress, clock: hurriedClock(), isToken: () => true });
  if (!receiver) return seen;
  for (const path of ['', '/services/collector', '/api/v2/logs', '/unknown'])
    for (const authorization of ['', 'Bearer x', 'Splunk x', `Basic ${btoa('x:y')}`]) {
      const headers = { ...(authorization !== '' && { authorization }), 'x-hub-signature-256': 'sha256=00' };
      const head = { method: 'POST', path, query: new URLSearchParams(), headers };
      try {
        seen.push(receiver.begin(head), await receiver.read(Buffer.from('{"event":1}'), head));
        seen.push(receiver.accepted(1, [0], head));
      } catch (error) {
        if (!(error instanceof RequestError || error instanceof BodyError)) throw error;
        seen.push(error.message, error.stack, receiver.rejected?.(error.status, error.message, head));
      }
    }
  return seen;
}

describe('secrets echoed by the server (S11, S21)', () => {
  test.each(cases.map((each) => [each.name, each] as const))(
    '%s: no outcome, message or refusal contains one',
    async (_name, each) => {
      const before = world.visits();
      for (const mode of speaksHttp(each.type.type_id) ? modes : modes.slice(0, 1)) {
        world.mode = mode;
        const seen = await trace(each, world.egress);
        expect({ mode: mode.name, leaks: findLeaks(each.secrets, { seen }) }).toEqual({ mode: mode.name, leaks: [] });
      }
      // A type that is sent to opens no connection without a genuine request.
      const isSentTo = each.code.createReceiver !== undefined || each.code.listens === true;
      if (!isSentTo) expect(world.visits()).toBeGreaterThan(before);
    },
    300_000,
  );

  test('the secrets were sent, so the search could have found them', () => {
    const received = world.received();
    const sent = cases.filter(({ secrets }) =>
      Object.values(secrets).some((secret) => encodings(secret).some((form) => received.includes(form))),
    );
    const names = new Set(sent.map(({ name }) => name.split(' ')[0]));
    expect(names.size).toBeGreaterThanOrEqual(15);
    for (const name of ['output:http', 'output:splunk', 'input:postgresql', 'input:okta-systemlog', 'output:slack'])
      expect(names).toContain(name);
  });
});
