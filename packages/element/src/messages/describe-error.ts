import type { ConnectorFrameError } from '@connector-frame/core/connect';
import { HostMessageError } from '../host-routes.js';
import type { ElementMessages } from './en.js';

/** What the error view shows. */
export interface ErrorTexts {
  /** For users. */
  cause: string;
  /** For the developer of the page. Empty on public pages, whose users can do nothing with it. */
  details: string;
}

/** Errors whose cause can be the network of the user. */
const networkErrors = new Set<string>(['frame_unreachable', 'frame_timeout', 'session_failed', 'load_failed']);

/** Hosts of pages in development. */
const LOCAL = /^(.+\.)?localhost$|^127\.|^\[::1]$/;

/** Returns the texts of an error: for users by its code, its message for developers. */
export function describeError(error: ConnectorFrameError, messages: ElementMessages): ErrorTexts {
  const { code, message } = error;
  const { causes, loadFailedHint } = messages;
  const isHostMessage = error instanceof HostMessageError;
  const isOffline = !navigator.onLine && !isHostMessage && networkErrors.has(code);
  const cause = causes[isOffline ? 'offline' : code] ?? (isHostMessage ? message : loadFailedHint);
  return { cause, details: LOCAL.test(location.hostname) && message !== cause ? `${code}: ${message}` : '' };
}

/**
 * Calls `listener` when the user goes online or offline, which changes the cause of an error.
 *
 * @returns a function that removes the listener
 */
export function onNetworkChange(listener: () => void): () => void {
  const listeners = new AbortController();
  for (const type of ['online', 'offline']) addEventListener(type, listener, { signal: listeners.signal });
  return () => listeners.abort();
}
