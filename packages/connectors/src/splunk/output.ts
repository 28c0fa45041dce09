import { randomUUID } from 'node:crypto';
import type { CreateOutput, Output } from '@connector-frame/engine/connector-api';
import { splitBySize, writeParts } from '../_shared/output/split-batch.js';
import { invalidConfig, send, type HttpResponse } from '../_shared/output/send.js';
import { at, text } from '../_shared/read.js';
import { baseOf } from './config.js';
import { expectToken, outcomeOf, SPLUNK } from './responses.js';
import { createIndexMaker } from './create-index.js';
import { createEnvelope } from './event.js';

/**
 * Maximum bytes of a request, as in Splunk Cloud.
 * https://docs.splunk.com/Documentation/SplunkCloud/latest/Service/SplunkCloudservice
 */
const MAX_BYTES = 1_000_000;
/** Bytes of records per request. The rest of `MAX_BYTES` is for what surrounds each event. */
const BATCH_BYTES = 700_000;
/** Splunk's management port, separate from the collector's. */
const MANAGEMENT_PORT = '8089';

export interface SplunkOptions {
  managementPort?: string;
}

/**
 * Sends records as events to the HTTP Event Collector. A batch is written once the collector has
 * queued it; the output does not wait for indexer acknowledgments. Splunk does not deduplicate.
 */
export function createSplunkOutput({ managementPort = MANAGEMENT_PORT }: SplunkOptions = {}): CreateOutput {
  return (config, context): Output => {
    const { settings, secrets } = config;
    const { egress, clock } = context;
    const token = text(secrets, 'token');
    if (!token) throw invalidConfig('There is no HEC token.');
    const base = baseOf(text(settings, 'url') ?? '', text(settings, 'port'));
    const management = baseOf(text(settings, 'url') ?? '', managementPort);
    if (!base || !management) throw invalidConfig('The URL and port do not form a valid address.');
    const verifyTls = at(settings, 'allow_insecure') !== true;
    const envelope = createEnvelope(settings);
    const makeIndex =
      at(settings, 'to_create') === true ? createIndexMaker(config, management, verifyTls, context) : undefined;
    // Required by a token with indexer acknowledgment, ignored otherwise.
    const headers = { authorization: `Splunk ${token}`, 'x-splunk-request-channel': randomUUID() };
    const post = (body: string, signal: AbortSignal): Promise<HttpResponse> =>
      send(egress, { url: `${base}/services/collector/event`, headers, body, verifyTls, product: SPLUNK }, signal);

    return {
      batching: { records: 1_000, bytes: BATCH_BYTES, waitMs: 1_000, waitFrom: 'write' },
      ordering: 'none',
      async open(signal) {
        await makeIndex?.(signal);
        expectToken(await post('', signal), clock.now());
      },
      write: (batch, signal) => {
        const events = batch.lines.map((line, index) => envelope(line, () => batch.records[index] ?? {}));
        const parts = splitBySize(
          events.map((event) => Buffer.byteLength(event) + 1),
          Infinity,
          MAX_BYTES,
        );
        return writeParts(parts, async (indexes) => {
          const body = indexes.map((index) => events[index]).join('\n');
          return outcomeOf(await post(body, signal), clock.now());
        });
      },
    };
  };
}
