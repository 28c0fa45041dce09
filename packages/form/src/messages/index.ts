import type data from './en.json';
import { cronSentence } from './cron-sentence.js';
import { createFormat, type Template } from './format.js';
import { issueSentence, type Subject } from './issue-sentence.js';
import type { Issue } from '@connector-frame/catalog/types';

/**
 * The messages of one language: a data file such as `en.json`. The build inlines the form's
 * language into the page. `failures` are shown to the user; `developer` goes to the console and to
 * `onError` of the host page only, and stays in English.
 */
export type Language = typeof data;

/** Messages with placeholders, and the values that fill them. */
interface MessageFunctions {
  createdOn(iso: string): string;
  sendTo(url: string): string;
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
  copyText(title: string): string;
  accountConnect(name: string): string;
  accountAgain(name: string): string;
  accountConnecting(name: string): string;
  accountFailed(name: string): string;
  accountEnded(name: string): string;
  accountConnectedAs(account: string): string;
  sentTo(place: string, organization: string): string;
  sentToField(label: string, organization: string): string;
  sentToItself(organization: string): string;
  neverSent(organization: string): string;
  summary(count: number): string;
  /** @param ms duration in milliseconds */
  testDetail(ms: number, summary?: string): string;
  kept(hint: string): string;
}

/** All messages of the form: a string per key, or a function if the message has placeholders. */
export interface Messages
  extends Omit<Language, keyof MessageFunctions | 'failures' | 'reasons' | 'localTime'>, MessageFunctions {
  /** Message and hint by the code that the host page gets. */
  failures: Readonly<Record<keyof Language['failures'], readonly [message: string, hint: string]>>;
  /** Message and hint of `load_failed`, `test_failed` or `save_failed`, by the reason. */
  reasons: Readonly<Record<keyof Language['reasons'], readonly [message: string, hint: string]>>;
  /** Describes the allowed range of a number; undefined if it is unbounded. */
  bounds(minimum?: number, maximum?: number): string | undefined;
  /** Names the time zone of a date-time control and, if it is set, its value in UTC. */
  localTime(zone: string, iso?: string): string;
  /** Describes a cron expression; undefined if no short sentence can. */
  cron(expression: string): string | undefined;
  /**
   * Describes a validation issue of a field. Words in `names` keep their capital letter inside a
   * sentence.
   */
  issue(issue: Issue, subject: Subject, names: readonly string[]): string;
}

const isTemplate = (value: unknown): value is Template =>
  typeof value === 'string' ? value.includes('{') : typeof value === 'object' && value !== null && 'other' in value;

/** Compiles the data of a language to messages. */
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
  // `Object.fromEntries` loses the types; a test checks each language against `Messages`.
  return { ...Object.fromEntries(said), ...rest };
}
