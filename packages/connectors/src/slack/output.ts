import type { ConnectorConfig } from '@connector-frame/catalog/types';
import type { CreateOutput, Output } from '@connector-frame/engine/connector-api';
import { createPartWriter, partsOf } from '../_shared/output/in-parts.js';
import { createPace } from '../_shared/output/pace.js';
import { invalidConfig, send } from '../_shared/output/send.js';
import { at, text } from '../_shared/read.js';
import { expectOk, outcomeOf, SLACK } from './answers.js';
import { createRender, MAX_TEXT } from './message.js';
import type { SlackOptions } from './test-connection.js';

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
    const way = wayOf(config, api, hooks);
    const render = createRender(config.settings);
    const perMessage = at(config.settings, 'digest') === true ? MAX_DIGEST : 1;
    const pace = createPace(EVERY_MS, clock);
    const posted = new Set<string>();
    const remember = (id: string): void => {
      posted.add(id);
      for (const oldest of posted) {
        if (posted.size <= REMEMBERED) return;
        posted.delete(oldest);
      }
    };

    const writeInParts = createPartWriter();
    return {
      async open(signal) {
        if (!way.test) return;
        expectOk(await send(egress, { url: way.test, headers: way.headers, product: SLACK }, signal), clock.now());
      },
      write: (batch, signal) => {
        const texts = batch.lines.map((line, index) => render(line, () => batch.records[index] ?? {}));
        const parts = partsOf(
          texts.map(({ length }) => length + 1),
          perMessage,
          MAX_TEXT,
        );
        return writeInParts(batch, parts, async (indexes) => {
          const blank = indexes.filter((index) => texts[index]?.trim() === '');
          const refused = blank.map((index) => ({ index, reason: 'The message of this record is empty.' }));
          const open = indexes.filter((index) => !blank.includes(index) && !posted.has(batch.recordId(index)));
          if (open.length === 0) return { refused };
          await pace(signal);
          const message = { ...way.message, text: open.map((index) => texts[index]).join('\n') };
          const answer = await send(
            egress,
            {
              url: way.url,
              headers: { ...way.headers, 'content-type': 'application/json; charset=utf-8' },
              body: JSON.stringify(message),
              product: SLACK,
            },
            signal,
          );
          const outcome = outcomeOf(answer, clock.now());
          if ('unwanted' in outcome) return outcome;
          for (const index of open) remember(batch.recordId(index));
          return { refused };
        });
      },
    };
  };
}

interface Way {
  url: string;
  /** URL of a call that checks the credentials. */
  test?: string;
  headers: Record<string, string>;
  /**
   * Properties of every message. They keep Slack from resolving or previewing anything in a record.
   */
  message: object;
}

function wayOf({ settings, secrets }: ConnectorConfig, api: string, hooks: readonly string[]): Way {
  const plain = { unfurl_links: false, unfurl_media: false };
  if (at(settings, 'auth_config', 'type') !== 'bot_token') {
    const url = text(secrets, 'webhook_url');
    if (!url || !URL.canParse(url) || !hooks.includes(new URL(url).origin))
      throw invalidConfig('This is not the address of a Slack webhook.');
    return { url, headers: {}, message: plain };
  }
  const token = text(secrets, 'bot_token');
  if (!token) throw invalidConfig('There is no bot token.');
  const channel = text(settings, 'auth_config', 'bot_token', 'channel_id');
  if (!channel) throw invalidConfig('There is no channel to post to.');
  return {
    url: `${api}/api/chat.postMessage`,
    test: `${api}/api/auth.test`,
    headers: { authorization: `Bearer ${token}` },
    message: { channel, parse: 'none', link_names: false, ...plain },
  };
}
