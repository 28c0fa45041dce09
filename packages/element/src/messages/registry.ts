import type { ElementMessages, FrameMessages } from './en.js';

interface Registry {
  /** By locale in lower case. */
  locales: Map<string, Partial<ElementMessages>>;
  /** Called after a registration. */
  listeners: Set<() => void>;
}

// Shared by all copies of this package on the page: the first copy defines the tag, but another one
// may be imported to register messages.
const key: unique symbol = Symbol.for('connector-frame.messages');
const shared: typeof globalThis & { [key]?: Registry } = globalThis;
const { locales, listeners } = (shared[key] ??= { locales: new Map(), listeners: new Set() });

/**
 * Adds a language for the texts of `<connector-frame>` and `<connector-catalog>`, or replaces
 * English texts. Elements use it if their `locale` attribute, or else the closest `lang` attribute,
 * is this locale or a regional variant of it. Mounted elements are updated.
 *
 * @param locale BCP 47 language tag, for example `de` or `pt-BR`
 * @param messages texts; English is used for missing ones
 * @example
 * ```ts
 * registerMessages('de', { loading: 'Das Formular wird geladen', tryAgain: 'Erneut versuchen' });
 * ```
 */
export function registerMessages(locale: string, messages: Partial<ElementMessages>): void {
  locales.set(locale.toLowerCase(), messages);
  for (const listener of listeners) listener();
}

/**
 * Returns the messages for an element: those of its locale, completed with English.
 *
 * @param en the English messages of the element
 */
export function messagesFor<Messages extends FrameMessages>(
  element: HTMLElement & { locale?: string | undefined },
  en: Messages,
): Messages {
  const all = complete(en, locales.get('en'));
  const locale = (element.locale || closestLang(element)).toLowerCase();
  // `de-CH-1996`, `de-CH`, `de`.
  for (let tag = locale; tag; tag = tag.slice(0, Math.max(0, tag.lastIndexOf('-')))) {
    const found = locales.get(tag);
    if (found) return complete(all, found);
  }
  return all;
}

/** Returns messages, with those of `all` for missing ones. */
function complete<Messages extends FrameMessages>(all: Messages, messages: Partial<ElementMessages> = {}): Messages {
  return { ...all, ...messages, causes: { ...all.causes, ...messages.causes } };
}

/**
 * Calls `listener` when texts can change: after a registration, and when the user goes online or
 * offline, which changes the cause of an error.
 *
 * @returns a function that removes the listener
 */
export function onTextChange(listener: () => void): () => void {
  const removal = new AbortController();
  listeners.add(listener);
  for (const type of ['online', 'offline']) addEventListener(type, listener, removal);
  return () => {
    listeners.delete(listener);
    removal.abort();
  };
}

/** Returns the language of the closest element with `lang`, across shadow roots. */
function closestLang(element: Element): string {
  const found = element.closest('[lang]');
  if (found) return found.getAttribute('lang') ?? '';
  const root = element.getRootNode();
  return root instanceof ShadowRoot ? closestLang(root.host) : '';
}
