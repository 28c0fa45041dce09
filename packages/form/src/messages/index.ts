import type data from './en.json';
import { cronSentence } from './cron-sentence.js';
import { createFormat, type Template } from './format.js';
import { issueSentence, type Subject } from './issue-sentence.js';
import type { Issue } from '@connector-frame/catalog/types';

/** A language as data: one file like `en.json`. The page carries the one that the form speaks. */
export type Language = typeof data;

/** Keys whose sentences have places for values, and what goes there. */
interface Sayings {
  createdOn(iso: string): string;
  addRow(label: string): string;
  removeRow(label: string, position: number): string;
  row(label: string, position: number): string;
  rowAdded(label: string, count: number): string;
  rowRemoved(label: string, count: number): string;
  chooseFileFor(label: string): string;
  fileRead(name: string): string;
  showSecret(label: string): string;
  hideSecret(label: string): string;
  secretSince(iso: string): string;
  replaceSecret(label: string): string;
  clearSecret(label: string): string;
  undoSecret(label: string): string;
  secretAgain(label: string): string;
  sentTo(place: string, organization: string): string;
  sentToField(label: string, organization: string): string;
  sentToItself(organization: string): string;
  summary(count: number): string;
  /** @param ms milliseconds */
  testDetail(ms: number, summary?: string): string;
  kept(hint: string): string;
}

/** Everything the form says: a text under its key, or a function where values belong into it. */
export interface Messages extends Omit<Language, keyof Sayings | 'failures' | 'localTime'>, Sayings {
  failures: Readonly<Record<keyof Language['failures'], readonly string[]>>;
  /** What a number may be; undefined when it may be any. */
  bounds(minimum?: number, maximum?: number): string | undefined;
  /** The zone of a time control, and beside it the moment as it is kept. */
  localTime(zone: string, iso?: string): string;
  /** What a cron expression means; undefined for one that no short sentence can say. */
  cron(expression: string): string | undefined;
  /** What is wrong with a field, in its own words. `names` keep their capital inside a sentence. */
  issue(issue: Issue, subject: Subject, names: readonly string[]): string;
}

const isTemplate = (value: unknown): value is Template =>
  typeof value === 'string' ? value.includes('{') : typeof value === 'object' && value !== null && 'other' in value;

/** Gives a language its voice. */
export function createMessages(language: Language): Messages {
  const format = createFormat(language.locale);
  const said = Object.entries(language).map(([key, value]) => [
    key,
    isTemplate(value) ? (...values: string[]) => format(value, ...values) : value,
  ]);
  const { between, atLeast, atMost, localTime, localTimeUtc, locale } = language;
  const rest: Partial<Messages> = {
    bounds: (minimum, maximum) =>
      minimum === undefined
        ? maximum === undefined
          ? undefined
          : format(atMost, maximum)
        : format(maximum === undefined ? atLeast : between, minimum, maximum),
    localTime: (zone, iso) => format(iso ? localTimeUtc : localTime, zone, iso),
    cron: (expression) => cronSentence(expression, language, locale, format),
    issue: (issue, subject, names) => issueSentence(issue, subject, names, language, format),
  };
  // Untyped up to here: a test holds every language to the type.
  return { ...Object.fromEntries(said), ...rest };
}
