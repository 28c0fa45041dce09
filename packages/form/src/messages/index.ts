/** The form's language: the first of the person's languages that the form speaks, else English. */
import { en } from './en.js';

/** What a language has to say. */
export type Messages = typeof en;

const LANGUAGES: readonly Messages[] = [en];

/** Picks by language tag, best first: `de-AT` finds `de`. */
export const pickMessages = (tags: readonly string[]): Messages =>
  tags
    .map((tag) => LANGUAGES.find(({ language }) => tag.toLowerCase().split('-', 1)[0] === language))
    .find((found) => found !== undefined) ?? en;

export const messages: Messages = pickMessages(globalThis.navigator?.languages ?? []);
