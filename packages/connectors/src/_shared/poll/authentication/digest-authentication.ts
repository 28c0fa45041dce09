import type { PollDigest } from '@connector-frame/catalog/types';
import { setHeader, type Authentication, type Credentials } from '../signing.js';
import { fieldOf, fillCredential } from './credentials.js';
import { digestHeader, parseChallenge, type DigestChallenge } from './digest.js';

/** Signs in with HTTP digest. The vendor responds to the first request with a challenge. */
export function digestAuthentication(method: PollDigest, { config }: Credentials): Authentication {
  const user = fillCredential(method.user, config);
  const password = fillCredential(method.password, config);
  let challenge: DigestChallenge | undefined;
  let count = 0;
  /** Whether the vendor has accepted the password with this nonce. */
  let isAccepted = false;
  return {
    sign({ method: verb, url, headers, body }) {
      if (challenge) {
        count += 1;
        const request = { method: verb, uri: url.pathname + url.search, body };
        const header = digestHeader(challenge, { user, password }, request, count);
        setHeader(headers, 'authorization', header, fieldOf(method.password));
      }
      return Promise.resolve();
    },
    renew({ status, headers }) {
      if (status !== 401) {
        isAccepted = challenge !== undefined;
        return false;
      }
      const next = parseChallenge(headers.get('www-authenticate') ?? '');
      // A nonce that was accepted before may have expired. Otherwise the password is wrong.
      const isRefused = challenge !== undefined && !isAccepted && next?.stale !== true;
      challenge = isRefused ? undefined : next;
      isAccepted = false;
      count = 0;
      return challenge !== undefined;
    },
  };
}
