/** The short-lived session token, and its renewal by the host page. */

const MARGIN_MS = 30_000;
/**
 * How long to wait for a token from the host. A host that has not replied by then is assumed to
 * have no way to mint one.
 */
const HOST_TIMEOUT_MS = 10_000;
/**
 * How long a call waits for that token. After that, the form shows that the session ended; if the
 * token arrives later, the form continues by itself.
 */
const CALL_WAIT_MS = 1_000;

export interface SessionTools {
  /** Monotonic time in milliseconds. */
  now: () => number;
  /** Requests a token from the host page. */
  request: () => void;
  /** Resolves after `ms` milliseconds. */
  sleep: (ms: number) => Promise<void>;
}

export interface Session {
  readonly token: string;
  /**
   * Requests a token from the host; resolves with false if none arrives in time. Concurrent calls
   * share one request.
   */
  renew: () => Promise<boolean>;
  /** Like `renew`, for a call that waits: resolves with false after a second. */
  renewSoon: () => Promise<boolean>;
  /**
   * Renews the token if it may expire during the next call. Never rejects: the service decides
   * whether the token is valid.
   */
  prepare(): Promise<void>;
  /** Stores a token from the host. */
  receive(token: string): void;
}

/**
 * Returns for how long a newly minted token is valid, in milliseconds. Uses the token's own `exp`
 * and `iat`, so that the local clock does not matter. A token without them counts as valid until
 * the service rejects it.
 */
export function lifetimeOf(token: string): number {
  try {
    const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    const { exp, iat }: { exp?: unknown; iat?: unknown } = JSON.parse(atob(payload));
    return typeof exp === 'number' && typeof iat === 'number' ? (exp - iat) * 1000 : Infinity;
  } catch {
    return Infinity;
  }
}

export function createSession(first: string, { now, request, sleep }: SessionTools): Session {
  let token = first;
  let end = now() + lifetimeOf(first);
  let renewal: Promise<boolean> | undefined;
  let resolveRenewal: ((renewed: boolean) => void) | undefined;

  async function requestToken(): Promise<boolean> {
    const received = new Promise<boolean>((resolve) => {
      resolveRenewal = resolve;
    });
    request();
    const renewed = await Promise.race([received, sleep(HOST_TIMEOUT_MS).then(() => false)]);
    renewal = undefined;
    // The host has no new token: do not ask again until the service rejects this one.
    if (!renewed) end = Infinity;
    return renewed;
  }

  const renew = (): Promise<boolean> => (renewal ??= requestToken());
  const renewSoon = (): Promise<boolean> => Promise.race([renew(), sleep(CALL_WAIT_MS).then(() => false)]);

  return {
    get token() {
      return token;
    },
    renew,
    renewSoon,
    async prepare() {
      if (end - now() < MARGIN_MS) await renewSoon();
    },
    receive(next) {
      token = next;
      end = now() + lifetimeOf(next);
      resolveRenewal?.(true);
    },
  };
}
