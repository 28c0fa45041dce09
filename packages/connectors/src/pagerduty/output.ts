import { type CreateOutput, MAX_BATCH_BYTES, type Output } from '@connector-frame/engine/connector-api';
import { alertOf } from '../_shared/alert-of.js';
import { invalidConfig, send } from '../_shared/output/send.js';
import { writeParts } from '../_shared/output/split-batch.js';
import { text } from '../_shared/read.js';
import { createToEvent } from './event.js';
import { outcomeOf, PAGERDUTY } from './responses.js';

/** Events of one write. Each is a request of its own. */
const MAX_EVENTS = 20;

export interface PagerDutyOptions {
  /** Origin of the Events API. */
  api?: string;
}

/**
 * Sends each record as an event to the Events API v2. Events of one alert are sent in order. PagerDuty
 * ignores an event that is sent again, because it has the same `dedup_key`.
 */
export function createPagerDutyOutput({ api = 'https://events.pagerduty.com' }: PagerDutyOptions = {}): CreateOutput {
  return (config, { egress, clock }): Output => {
    const key = text(config.secrets, 'routing_key');
    if (!key) throw invalidConfig('There is no integration key.');
    const toEvent = createToEvent(config);
    const headers = { 'content-type': 'application/json', ...authorizationOf(text(config.secrets, 'auth_token')) };
    return {
      batching: { records: MAX_EVENTS, bytes: MAX_BATCH_BYTES, waitMs: 1_000, waitFrom: 'write' },
      ordering: { key: (record) => alertOf(record)?.id ?? JSON.stringify(record) },
      write: (batch, signal) =>
        writeParts(
          batch.lines.map((_line, index) => [index]),
          async ([index = 0]) => {
            const { path, body } = toEvent(batch.records[index] ?? {}, batch.recordId(index));
            const request = { routing_key: key, ...body };
            const options = { url: `${api}${path}`, headers, body: JSON.stringify(request), product: PAGERDUTY };
            return outcomeOf(await send(egress, options, signal), clock.now());
          },
        ),
    };
  };
}

/** https://developer.pagerduty.com/docs/authentication */
export const authorizationOf = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Token token=${token}` };
