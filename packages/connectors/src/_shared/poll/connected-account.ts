import type { ConnectorTypeData, OAuthSite } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import { isRecord, type GrantedTokens } from '@connector-frame/engine/connector-api';
import { unexpected, type Subject } from '../connection-test/failures.js';
import { missing } from '../connection-test/outcome.js';
import { PollError } from './poll-error.js';
import { setHeader, type Authentication, type Credentials } from './signing.js';

/**
 * Returns how requests are signed with the account that the customer connected, or `undefined` if the
 * secret was entered. Access tokens are bearer tokens (RFC 6750), whatever the vendor's keys are.
 */
export function connectedAccount(
  { oauth }: ConnectorTypeData,
  tokens: GrantedTokens | undefined,
): ((given: Pick<Credentials, 'config' | 'subject' | 'base' | 'requester'>) => Authentication) | undefined {
  const field = oauth?.secret.slice('/secrets/'.length);
  if (!oauth || field === undefined || !tokens?.has(field)) return undefined;
  return ({ config, subject, base, requester }) => {
    const { site } = oauth;
    let last: string | undefined;
    let rejected: string | undefined;
    let siteBase: URL | undefined;

    const bearer = async (headers: Headers): Promise<Headers> => {
      last = await tokens.get(field, rejected);
      setHeader(headers, 'authorization', `Bearer ${last}`, oauth.secret);
      return headers;
    };

    function reject(status: number | undefined): boolean {
      if (status !== 401 || last === undefined || last === rejected) return false;
      rejected = last;
      return true;
    }

    async function find(wanted: OAuthSite, signal: AbortSignal): Promise<URL> {
      const url = new URL(wanted.list_url);
      const list = async () => {
        const headers = await bearer(new Headers({ accept: 'application/json' }));
        return requester({ method: 'GET', url, headers }, signal);
      };
      const { body } = await list().catch((error: unknown) => {
        if (error instanceof PollError && reject(error.status)) return list();
        throw error;
      });
      return siteIn(wanted, body, config.settings, subject);
    }

    return {
      async sign(request, signal) {
        if (site && request.url.origin === base.origin) {
          siteBase ??= await find(site, signal);
          request.url = moved(request.url, base, siteBase);
        }
        await bearer(request.headers);
      },
      renew: ({ status }) => reject(status),
    };
  };
}

/** @throws PollError if the account has no access to the site of the settings */
function siteIn(site: OAuthSite, list: unknown, settings: Readonly<Record<string, unknown>>, subject: Subject): URL {
  const pointer = /\{\{([^{}]+)\}\}/.exec(site.address)?.[1] ?? '';
  const value: unknown = getAt({ settings }, pointer);
  const wanted = new URL(site.address.replace(/\{\{.*\}\}/, () => (typeof value === 'string' ? value : '')));
  if (!Array.isArray(list)) throw new PollError(unexpected(subject), 'retry');
  for (const entry of list.filter(isRecord)) {
    const address: unknown = getAt(entry, site.match);
    const id: unknown = getAt(entry, site.id);
    if (typeof address !== 'string' || typeof id !== 'string' || !URL.canParse(address)) continue;
    if (new URL(address).host === wanted.host)
      return new URL(site.base_url.replace('{{site}}', () => encodeURIComponent(id)));
  }
  throw new PollError(missing(pointer, 'The connected account has no access to this site.'), 'permanent');
}

/** Replaces the base of a URL. */
function moved(url: URL, from: URL, to: URL): URL {
  const result = new URL(url);
  result.host = to.host;
  const prefix = from.pathname.replace(/\/$/, '');
  result.pathname = to.pathname + url.pathname.slice(prefix.length);
  return result;
}
