import type { PollClientCredentials } from '@connector-frame/catalog/types';
import { readAddress } from './address.js';
import { basic, put, type Authentication, type Credentials, type Grant } from './signing.js';
import { fill } from './template.js';

/** A token is renewed this many milliseconds before it expires. */
const MARGIN_MS = 60_000;

/**
 * Authenticates with a token in `Authorization`. Requests one when needed and caches it until
 * shortly before it expires.
 */
export function tokenAuthentication(
  grant: () => Grant | Promise<Grant>,
  { requester, now, subject }: Credentials,
  prefix = 'Bearer ',
): Authentication {
  let kept: { value: string; until: number } | undefined;
  return {
    async sign({ headers }, signal) {
      if (!kept || kept.until <= now()) {
        const { value, lifetime } = await requester(await grant(), signal);
        kept = { value, until: now() + Math.max(lifetime * 1_000 - MARGIN_MS, (lifetime * 1_000) / 2) };
      }
      put(headers, 'authorization', prefix + kept.value, subject.credential ?? '');
    },
    renew() {
      const had = kept !== undefined;
      kept = undefined;
      return had;
    },
  };
}

export function clientCredentialsGrant(
  way: PollClientCredentials,
  { config, subject }: Credentials,
  read: (path: string) => string,
): () => Grant {
  const { settings } = config;
  const url = readAddress(way.token_url, { settings }, subject);
  return () => {
    const [id, secret] = [read(way.client_id), read(way.client_secret)];
    const fields: Record<string, string> = { grant_type: way.grant_type ?? 'client_credentials' };
    const headers = new Headers({ accept: 'application/json' });
    if (way.client === 'body') Object.assign(fields, { client_id: id, client_secret: secret });
    else put(headers, 'authorization', basic(id, secret), way.client_secret);
    for (const [name, template] of Object.entries(way.parameters ?? {})) {
      const value = fill(template, { settings });
      if (value !== undefined) fields[name] = value;
    }
    const json = way.body === 'json';
    headers.set('content-type', json ? 'application/json' : 'application/x-www-form-urlencoded');
    return { url, headers, body: json ? JSON.stringify(fields) : new URLSearchParams(fields).toString() };
  };
}
