/**
 * Every message of the form, with the state in which it is true. `messages/message-states.test.ts`
 * and `test/browser/form-messages.test.ts` drive a form into each state and expect its messages; a
 * message that is in no state fails them.
 */
import type en from '../messages/en.json';

type Language = typeof en;
type Section = 'failures' | 'reasons' | 'developer' | 'issues';
/** Data of a language that is not displayed. */
type Setting = 'language' | 'direction' | 'locale' | 'lowerLabels';

/** `save`, `failures.offline`, `issues.required/enum`. */
export type MessageKey =
  | Exclude<keyof Language, Section | Setting>
  | { [S in Section]: `${S}.${keyof Language[S] & string}` }[Section];

/** States of a form's model. The unit test drives the ones whose messages need no page. */
export const modelStates = {
  'a required value is missing': [
    'issues.required',
    'issues.required/enum',
    'issues.required/variants',
    'issues.required/string-list',
    'issues.required/object-list',
    'issues.required/map',
  ],
  'a map has a value without a name, or a name without a value': ['issues.required/key', 'issues.required/value'],
  'a stored secret does not apply to the changed address': ['issues.required/reentry'],
  'a stored secret is being replaced, and nothing is entered': ['issues.required/replacing'],
  'a text is too short or too long': ['issues.min_length', 'issues.max_length'],
  'a list has too few or too many rows, or the same one twice': [
    'issues.min_items',
    'issues.max_items',
    'issues.unique_items',
  ],
  'a secret consists of dots': ['issues.masked'],
  'a stored choice no longer exists': ['issues.enum'],
  'a text does not match its pattern': ['issues.pattern', 'issues.pattern/example'],
  'a number is not one, or out of range': [
    'issues.number',
    'issues.integer',
    'issues.between',
    'issues.minimum',
    'issues.maximum',
  ],
  'a text does not have its format': [
    'issues.format/uri',
    'issues.format/uri/space',
    'issues.format/uri/credentials',
    'issues.format/hostname',
    'issues.format/hostname/path',
    'issues.format/hostname/port',
    'issues.format/host-port',
    'issues.format/host-port/path',
    'issues.format/host-port/port',
    'issues.format/email',
    'issues.format/date-time',
    'issues.format/cron',
    'issues.format/cron/field_1',
    'issues.format/cron/field_2',
    'issues.format/cron/field_3',
    'issues.format/cron/field_4',
    'issues.format/cron/field_5',
    'issues.format/json',
    'issues.format/pem',
    'issues.format/pem/cut_off',
  ],
  'something else is entered as a private key': [
    'issues.format/private-key/public_key',
    'issues.format/private-key/certificate',
    'issues.format/private-key/encrypted',
  ],
  'a failed connection test points at a field': ['issues.unknown'],
  'a stored secret can no longer be decrypted': ['secretUnreadable'],
  'an account is being connected': [
    'accountConnect',
    'accountAgain',
    'accountConnecting',
    'accountClosed',
    'accountCancelled',
    'accountBlocked',
    'accountFailed',
    'accountExpired',
    'accountEnded',
    'accountConnected',
    'accountConnectedAs',
  ],
  'the form cannot be loaded': [
    'failures.load_failed',
    'failures.type_not_found',
    'failures.connector_not_found',
    'failures.unauthorized',
    'failures.session_expired',
  ],
  'the browser is offline': ['failures.offline'],
  'records are sent to the connector': ['sendTo'],
  'the service can save the type, but not run it': ['savedOnly', 'needsAgent', 'proprietary', 'withdrawn'],
  'a connection test fails, or cannot run': [
    'failures.test_failed',
    'reasons.not_tested',
    'reasons.too_often',
    'reasons.limit_reached',
    'reasons.busy',
    'reasons.unreachable',
  ],
  'a save fails': ['failures.save_failed', 'reasons.invalid', 'reasons.changed_elsewhere', 'kept'],
  'the page asked to save before the destination of a secret was visible': ['failures.destination_not_seen'],
  'the page asked to save while a secret is being typed': ['developer.command_while_typing'],
  'the page names fields that the type does not have': ['developer.unknown_override'],
} as const satisfies Record<string, readonly MessageKey[]>;

/** States of the form in a page. The browser test drives them. */
export const pageStates = {
  'the form is loading': ['loading'],
  'the form could not be loaded': ['tryAgain'],
  'a new connector, nothing is entered': [
    'name',
    'description',
    'save',
    'cancel',
    'test',
    'optional',
    'advanced',
    'deprecated',
    'choose',
    'none',
    'add',
    'addRow',
    'chooseFile',
    'chooseFileFor',
    'dropFile',
    'between',
    'atLeast',
    'atMost',
    'localTime',
    'cronHelp',
    'secretNote',
    'sentToField',
    'sentToItself',
    'neverSent',
  ],
  'values are entered': ['sentTo', 'localTimeUtc', 'show', 'showSecret'],
  'a secret is shown': ['hide', 'hideSecret'],
  'a schedule is entered': ['cronMinutes', 'cronHours', 'cronDays', 'cronWeekdays', 'cronWeekdaySpan', 'cronMonths'],
  'a row was added': ['row', 'removeRow', 'rowAdded', 'mapKey', 'mapValue'],
  'a row was removed': ['rowRemoved'],
  'a file was read': ['fileRead'],
  'a file is too large': ['fileTooLarge'],
  'a file is not text': ['fileUnread'],
  'a role is set up at AWS': [
    'copy',
    'copyText',
    'copied',
    'setupReplace',
    'awsAccount',
    'awsExternalId',
    'awsTrustPolicy',
    'awsPermissions',
    'awsTemplate',
    'awsNoTemplate',
    'awsQuickCreate',
    'awsNone',
  ],
  'a key pair is created': ['createKeyPair', 'keyPairCreated'],
  'a saved connector': [
    'saveChanges',
    'createdOn',
    'secretKept',
    'secretSince',
    'replace',
    'replaceSecret',
    'clear',
    'clearSecret',
  ],
  'a stored secret is being replaced': ['keepSaved', 'undoSecret'],
  'a stored secret is cleared': ['secretCleared', 'undo'],
  'the destination of a stored secret changed': ['secretAgain'],
  'problems prevent a save': ['summary'],
  'the problems are fixed': ['summaryDone'],
  'a connection test is running': ['testing'],
  'the connection test passed': ['testPassed', 'testDetail'],
  'a save is running': ['saving'],
  'the connector was saved': ['saved'],
  'the connector was changed elsewhere': ['reload'],
  'the session ended': ['kept', 'continue'],
  'the user cancels with unsaved edits': ['leave', 'discard', 'keepEditing'],
  'a secret control is not all in view': ['secretClipped'],
  'the page covers a secret control': ['secretCovered', 'developer.frame_covered'],
  'the page speaks another version of the protocol': ['failures.not_shown', 'developer.protocol_mismatch'],
  'the page names another service': ['failures.not_shown', 'developer.api_base_mismatch'],
  'a style sheet of the page cannot be loaded': ['developer.stylesheet_failed'],
} as const satisfies Record<string, readonly MessageKey[]>;

/** Returns the keys of all messages of a language. */
export function messageKeys(language: object): string[] {
  const settings = new Set(['language', 'direction', 'locale', 'lowerLabels']);
  const sections = new Set(['failures', 'reasons', 'developer', 'issues']);
  return Object.entries(language).flatMap(([key, value]) => {
    if (settings.has(key)) return [];
    return sections.has(key) ? Object.keys(Object(value)).map((inner) => `${key}.${inner}`) : [key];
  });
}

/** Returns the texts of a message: one, several for a failure, or its plural forms. */
export function textsOf(language: object, key: string): string[][] {
  const dot = key.indexOf('.');
  const value: unknown =
    dot < 0
      ? Reflect.get(language, key)
      : Reflect.get(Object(Reflect.get(language, key.slice(0, dot))), key.slice(dot + 1));
  if (typeof value === 'string') return [[value]];
  return Array.isArray(value) ? [value.map(String)] : Object.values(Object(value)).map((form) => [String(form)]);
}

/** Returns a pattern for a template with any values. */
const pattern = (template: string): RegExp => {
  const fixed = template.split(/\{[^}]*\}/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${fixed.join('[^]*')}$`);
};

/** Returns whether one of these texts is a message, in any of its plural forms. */
export const isSaid = (said: readonly string[], language: object, key: string): boolean =>
  textsOf(language, key).some((parts) => parts.every((part) => said.some((text) => pattern(part).test(text))));
