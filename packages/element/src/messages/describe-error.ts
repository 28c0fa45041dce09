import type { ConnectorFrameError } from '@connector-frame/core/connect';
import { HostMessageError } from '../host-routes.js';
import type { FrameMessages } from './en.js';

/** What the error view shows. */
export interface ErrorTexts {
  /** For users. */
  cause: string;
  /** For the developer of the page. Empty on public pages, whose users can do nothing with it. */
  details: string;
}

/** Hosts of pages in development. */
const LOCAL = /^(.+\.)?localhost$|^127\.|^\[::1]$/;

/** Returns the texts of an error: for users by its code, its message for developers. */
export function describeError(error: ConnectorFrameError, messages: FrameMessages): ErrorTexts {
  const { code, message } = error;
  const { causes, loadFailedHint } = messages;
  const isHostMessage = error instanceof HostMessageError;
  const isOffline = !navigator.onLine && !isHostMessage && code !== 'invalid_options';
  const cause = causes[isOffline ? 'offline' : code] ?? (isHostMessage ? message : loadFailedHint);
  return { cause, details: LOCAL.test(location.hostname) && message !== cause ? `${code}: ${message}` : '' };
}
