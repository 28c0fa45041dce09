import { isRecord, isSendable, type EgressInit, type TesterConfig } from '@connector-frame/engine/connector-api';
import { invalidConfig } from '../_shared/output/send.js';
import { at, text } from '../_shared/read.js';

export interface PollRequest {
  url: string;
  init: Pick<EgressInit, 'method' | 'headers' | 'body' | 'timeoutMs'>;
  intervalMs: number;
}

/** @throws ConnectorError `invalid_config` */
export function readPollRequest({ settings, secrets }: TesterConfig): PollRequest {
  const endpoint = text(settings, 'endpoint') ?? '';
  if (!URL.canParse(endpoint)) throw invalidConfig('There is no address to fetch.');
  const url = new URL(endpoint);
  for (const [name, value] of rowsOf(at(settings, 'query'))) url.searchParams.append(name, value);
  const method = text(settings, 'method') ?? 'GET';
  const body = at(settings, 'body');
  const rows = [...rowsOf(at(settings, 'headers')), ...signIn(settings, secrets)];
  if (!rows.every((row) => isSendable(...row)))
    throw invalidConfig('A header cannot be sent: its name, or a character in its value, is not allowed.');
  const headers = new Headers({ accept: 'application/json' });
  for (const [name, value] of rows) headers.set(name, value);
  const sends = ['POST', 'PUT', 'PATCH'].includes(method) && typeof body === 'string' && body !== '';
  if (sends && !headers.has('content-type')) headers.set('content-type', 'application/json');
  return {
    url: url.href,
    init: { method, headers, timeoutMs: secondsOf(settings, 'scrape_timeout_secs', 5), ...(sends && { body }) },
    intervalMs: secondsOf(settings, 'scrape_interval_secs', 15),
  };
}

const rowsOf = (map: unknown): [string, string][] =>
  Object.entries(isRecord(map) ? map : {}).flatMap(([name, value]): [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );

function signIn(settings: unknown, secrets: unknown): [string, string][] {
  const strategy = text(settings, 'auth', 'strategy');
  if (strategy === 'bearer') return [['authorization', `Bearer ${text(secrets, 'token') ?? ''}`]];
  if (strategy !== 'basic') return [];
  const pair = `${text(settings, 'auth', 'basic', 'user') ?? ''}:${text(secrets, 'password') ?? ''}`;
  return [['authorization', `Basic ${Buffer.from(pair).toString('base64')}`]];
}

function secondsOf(settings: unknown, name: string, fallback: number): number {
  const value = at(settings, name);
  return (typeof value === 'number' && value > 0 ? value : fallback) * 1_000;
}
