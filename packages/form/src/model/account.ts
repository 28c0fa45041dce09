import type { Messages } from '../messages/index.js';
import type { Api } from './api.js';
import { ApiError } from './api-error.js';

/** A window that the form opened, on its way to the vendor. */
export interface AccountWindow {
  /** Sends it to an address of the service. */
  go(url: string): void;
  close(): void;
  /** Resolves when the window says that it is done. Some vendors cut the connection to it. */
  readonly done: Promise<void>;
  /** Whether it was closed, or the vendor cut the connection to it. */
  readonly closed: boolean;
}

export type AccountPhase = 'idle' | 'connecting' | 'closed' | 'blocked' | 'failed' | 'cancelled' | 'expired';

/** An account that can be connected instead of entering a secret. */
export interface AccountOffer {
  /** Text of the button: "Connect with GitHub". */
  action: string;
  /** What happened last; empty if nothing did. */
  note: string;
  /** Whether the note is an error. */
  bad: boolean;
}

export interface AccountTools {
  api: Pick<Api, 'startConsent' | 'consentStatus'>;
  messages: Messages;
  /** Opens a window, or returns undefined if the browser blocks it. */
  openWindow: () => AccountWindow | undefined;
  sleep: (ms: number) => Promise<void>;
  /** Name of the vendor. */
  name: string;
  /** Called after each change of what `offer` returns. */
  changed: () => void;
}

/** Creates an `Account` whose windows are the browser's. */
export type CreateAccount = (tools: Omit<AccountTools, 'openWindow'>) => Account;

/** Connects one account at a time. */
export interface Account {
  offer(needsReauth: boolean): AccountOffer;
  /**
   * Opens a window at the vendor. Call it in the handler of a click, or the browser blocks the window.
   * Resolves with the consent once the account is connected, or undefined.
   */
  connect(settings: Record<string, unknown>): Promise<{ id: string; account?: string } | undefined>;
  /** Stops waiting, and forgets what happened. */
  reset(): void;
}

/** Milliseconds between two reads of the status. */
const POLL_MS = 2_000;

export function createAccount({ api, messages: m, openWindow, sleep, name, changed }: AccountTools): Account {
  let phase: AccountPhase = 'idle';
  let attempt = 0;

  const move = (next: AccountPhase): void => {
    if (phase === next) return;
    phase = next;
    changed();
  };

  const notes: Record<AccountPhase, string> = {
    idle: '',
    connecting: m.accountConnecting(name),
    closed: m.accountClosed,
    blocked: m.accountBlocked,
    failed: m.accountFailed(name),
    cancelled: m.accountCancelled,
    expired: m.accountExpired,
  };

  return {
    offer(needsReauth) {
      const ended = needsReauth && phase === 'idle';
      return {
        action: needsReauth || phase !== 'idle' ? m.accountAgain(name) : m.accountConnect(name),
        note: ended ? m.accountEnded(name) : notes[phase],
        bad: ended || phase === 'blocked' || phase === 'failed' || phase === 'expired',
      };
    },

    reset() {
      attempt += 1;
      move('idle');
    },

    async connect(settings) {
      attempt += 1;
      const mine = attempt;
      const window = openWindow();
      if (!window) {
        move('blocked');
        return undefined;
      }
      move('connecting');
      try {
        const { id, url } = await api.startConsent(settings);
        window.go(url);
        for (;;) {
          await Promise.race([window.done, sleep(POLL_MS)]);
          if (mine !== attempt) return undefined;
          const { status, account } = await api.consentStatus(id);
          if (mine !== attempt) return undefined;
          if (status === 'connected') {
            move('idle');
            return { id, ...(account !== undefined && { account }) };
          }
          if (status !== 'pending') {
            move(status);
            return undefined;
          }
          // It may only look closed, so the form keeps asking.
          move(window.closed ? 'closed' : 'connecting');
          // After "done", the window no longer wakes the loop.
          if (window.closed) await sleep(POLL_MS);
        }
      } catch (error) {
        if (mine !== attempt) return undefined;
        window.close();
        move(error instanceof ApiError && error.status === 404 ? 'expired' : 'failed');
        return undefined;
      }
    },
  };
}
