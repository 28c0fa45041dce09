/** The short-lived token, and how the form gets a fresh one from the host page. */

const MARGIN_MS = 30_000;
/** A host that has answered by then has a way to mint; one that has not will not. */
const ANSWER_MS = 10_000;

export interface SessionTools {
  /** Milliseconds of a clock that only runs forward. */
  now: () => number;
  /** Tells the host page that a token is needed. */
  request: () => void;
  /** Waits, in milliseconds. */
  sleep: (ms: number) => Promise<void>;
}

export interface Session {
  readonly token: string;
  /** Asks the host for a token. False when none came in time. Calls at the same time share one question. */
  renew: () => Promise<boolean>;
  /** Asks before a call that the present token would not outlive. Never fails: the service has the last word. */
  prepare(): Promise<void>;
  /** A token came from the host. */
  receive(token: string): void;
}

/**
 * How long a token is good for from now, in milliseconds. It was minted a moment ago, so its own two times tell, whatever the clock
 * of this machine says. A token that does not tell is good until it is refused.
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
  let asking: Promise<boolean> | undefined;
  let answer: ((renewed: boolean) => void) | undefined;

  async function ask(): Promise<boolean> {
    const answered = new Promise<boolean>((resolve) => {
      answer = resolve;
    });
    request();
    const renewed = await Promise.race([answered, sleep(ANSWER_MS).then(() => false)]);
    asking = undefined;
    // A host that has no other token is not asked again before this one is refused.
    if (!renewed) end = Infinity;
    return renewed;
  }

  const renew = (): Promise<boolean> => (asking ??= ask());

  return {
    get token() {
      return token;
    },
    renew,
    async prepare() {
      if (end - now() < MARGIN_MS) await renew();
    },
    receive(next) {
      token = next;
      end = now() + lifetimeOf(next);
      answer?.(true);
    },
  };
}
