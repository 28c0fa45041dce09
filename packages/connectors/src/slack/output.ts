import { MAX_BATCH_BYTES, type CreateOutput, type Output } from '@connector-frame/engine/connector-api';
import { splitBySize, writeParts } from '../_shared/output/split-batch.js';
import { createRateLimiter } from '../_shared/output/rate-limiter.js';
import { send } from '../_shared/output/send.js';
import { at } from '../_shared/read.js';
import { readDestination, type SlackOptions } from './config.js';
import { expectOk, outcomeOf, SLACK } from './responses.js';
import { createRender, MAX_TEXT } from './message.js';

/**
 * Milliseconds between two messages to a channel. https://docs.slack.dev/apis/web-api/rate-limits
 */
const EVERY_MS = 1_000;
/** Maximum number of records in one message, if the settings enable digests. */
const MAX_DIGEST = 50;
/**
 * Number of posted record IDs to remember, so that an interrupted batch continues where it stopped.
 */
const REMEMBERED = 2_000;

/** Posts records as messages to a channel, at the rate that Slack allows. */
export function createSlackOutput({
  api = 'https://slack.com',
  hooks = ['https://hooks.slack.com', 'https://hooks.slack-gov.com'],
}: SlackOptions = {}): CreateOutput {
  return (config, { egress, clock }): Output => {
    const destination = readDestination(config, api, hooks);
    const render = createRender(config.settings);
    const perMessage = at(config.settings, 'digest') === true ? MAX_DIGEST : 1;
    const takeTurn = createRateLimiter(EVERY_MS, clock);
    const posted = new Set<string>();
    const remember = (id: string): void => {
      posted.add(id);
      for (const oldest of posted) {
        if (posted.size <= REMEMBERED) return;
        posted.delete(oldest);
      }
    };

    return {
      // The engine's default of 300 ms is shorter than Slack's interval between two messages.
      retry: { firstMs: EVERY_MS },
      // Messages stay in order, and another request at a time would exceed the rate.
      ...(perMessage > 1 && {
        batching: { records: perMessage, bytes: MAX_BATCH_BYTES, waitMs: EVERY_MS, waitFrom: 'write' },
      }),
      async open(signal) {
        if (!destination.test) return;
        expectOk(
          await send(egress, { url: destination.test, headers: destination.headers, product: SLACK }, signal),
          clock.now(),
        );
      },
      write: (batch, signal) => {
        const texts = batch.lines.map((line, index) => render(line, () => batch.records[index] ?? {}));
        const parts = splitBySize(
          texts.map(({ length }) => length + 1),
          perMessage,
          MAX_TEXT,
        );
        return writeParts(parts, async (indexes) => {
          const blank = indexes.filter((index) => texts[index]?.trim() === '');
          const rejected = blank.map((index) => ({ index, reason: 'The message of this record is empty.' }));
          const open = indexes.filter((index) => !blank.includes(index) && !posted.has(batch.recordId(index)));
          if (open.length === 0) return { rejected };
          await takeTurn(signal);
          const message = { ...destination.message, text: open.map((index) => texts[index]).join('\n') };
          const response = await send(
            egress,
            {
              url: destination.url,
              headers: { ...destination.headers, 'content-type': 'application/json; charset=utf-8' },
              body: JSON.stringify(message),
              product: SLACK,
            },
            signal,
          );
          const outcome = outcomeOf(response, clock.now());
          if ('partRejection' in outcome) return outcome;
          for (const index of open) remember(batch.recordId(index));
          return { rejected };
        });
      },
    };
  };
}
