import type { ConnectorConfig } from '@connector-frame/catalog/types';
import { invalidConfig } from '../_shared/output/send.js';
import { at, text } from '../_shared/read.js';

export interface SlackOptions {
  /** Origin of the Web API. */
  api?: string;
  /** Origins of incoming webhooks. */
  hooks?: readonly string[];
}

/** Where messages are posted, and with which credentials. */
export interface Destination {
  url: string;
  /** URL of a call that checks the credentials. */
  test?: string;
  headers: Record<string, string>;
  /**
   * Properties of every message. They keep Slack from resolving or previewing anything in a record.
   */
  message: object;
}

/** Parses the settings. @throws ConnectorError `invalid_config`, permanent */
export function readDestination(
  { settings, secrets }: ConnectorConfig,
  api: string,
  hooks: readonly string[],
): Destination {
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
