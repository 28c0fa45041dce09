/** Every sentence the form says. Another language is one more file of this shape. */
import { cronSentence } from './en-cron.js';
import { issueSentence } from './en-issues.js';

const NUMBERS = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine'];

// Day before month, the month as a word: nobody reads it the wrong way round.
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });

const MOMENT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

const NUMBER = new Intl.NumberFormat('en');

/** `2026-11-12T08:30:00Z` -> `12 Nov 2026`, in the person's own zone; `''` for what is no date. */
const day = (iso: string): string => {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? '' : DAY.format(date);
};

const duration = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);

export const en = {
  language: 'en',
  direction: 'ltr' as 'ltr' | 'rtl',

  // Header and footer
  loading: 'Loading the form',
  createdOn: (iso: string) => `Created ${day(iso)}`,
  name: 'Name',
  description: 'Description',
  save: 'Save',
  saveChanges: 'Save changes',
  saving: 'Saving',
  saved: 'Saved',
  cancel: 'Cancel',
  test: 'Test connection',
  testing: 'Testing the connection',
  tryAgain: 'Try again',
  reload: 'Load the latest version',

  // Fields
  optional: 'Optional',
  advanced: 'Advanced',
  deprecated: 'No longer recommended',
  choose: 'Choose',
  none: 'None',
  add: 'Add',
  addRow: (label: string) => `Add to ${label}`,
  remove: 'Remove',
  removeRow: (label: string, position: number) => `Remove ${label} ${position}`,
  row: (label: string, position: number) => `${label} ${position}`,
  mapKey: 'Name',
  mapValue: 'Value',
  chooseFile: 'Choose a file',
  fileTooLarge: 'This file is too large. Choose one under 64 KB.',
  fileUnreadable: 'This file could not be read. Choose it again, or paste its text.',
  chooseFileFor: (label: string) => `Choose a file for ${label}`,
  dropFile: 'or drop it here',
  fileRead: (name: string) => `Read from ${name}`,
  rowAdded: (label: string, count: number) => `Added. ${label}: ${count}`,
  rowRemoved: (label: string, count: number) =>
    count ? `Removed. ${label}: ${count} left` : `Removed. ${label}: none left`,
  bounds: (minimum?: number, maximum?: number) => {
    if (minimum !== undefined && maximum !== undefined)
      return `From ${NUMBER.format(minimum)} to ${NUMBER.format(maximum)}`;
    if (minimum !== undefined) return `${NUMBER.format(minimum)} or more`;
    return maximum === undefined ? undefined : `${NUMBER.format(maximum)} or less`;
  },
  /** The zone of a time control, and beside it the moment as it is kept. */
  localTime: (zone: string, iso?: string) =>
    iso ? `${zone} time. In UTC: ${MOMENT.format(new Date(iso))}` : `${zone} time`,
  /** What a cron expression means; undefined for what is none. */
  cron: cronSentence,
  cronHelp: 'Minute, hour, day, month, weekday. For example 0 6 * * 1 for Mondays at 6:00.',

  // Secrets
  secretNote: 'Encrypted. The page around this form can’t read what you type here.',
  show: 'Show',
  hide: 'Hide',
  showSecret: (label: string) => `Show ${label}`,
  hideSecret: (label: string) => `Hide ${label}`,
  secretKept: 'Saved',
  secretSince: day,
  replace: 'Replace',
  replaceSecret: (label: string) => `Replace ${label}`,
  clear: 'Clear',
  clearSecret: (label: string) => `Clear ${label}`,
  keepSaved: 'Keep the saved one',
  undo: 'Undo',
  undoSecret: (label: string) => `Keep the saved ${label}`,
  secretCleared: 'Will be removed when you save',
  secretAgain: (label: string) => `Enter ${label} again`,

  // Notes
  summary: (count: number) => `${NUMBERS[count] ?? count} ${count === 1 ? 'thing' : 'things'} to fix before saving`,
  testPassed: 'Connection works',
  testDetail: (ms: number, summary?: string) =>
    summary ? `${summary.replace(/\.$/, '')} in ${duration(ms)}.` : `Answered in ${duration(ms)}.`,
  testFailed: 'Connection failed',
  expired: 'Your session ended',
  expiredDetail: 'What you typed is still here. Continue to sign in again, then save.',
  continue: 'Continue',

  // Failures: what happened, and what to do next
  kept: 'What you typed is still here.',
  failures: {
    offline: ['You are offline', 'Try again once you are connected.'],
    unreachable: ['The service did not answer', 'Try again in a moment.'],
    busy: ['The service is busy', 'Try again in a minute.'],
    load_failed: ['The form could not be loaded', 'Try again in a moment.'],
    type_not_found: ['This connector is not available', 'Choose another one.'],
    connector_not_found: ['This connector no longer exists', 'Choose another one.'],
    unauthorized: ['You may not do this', 'Ask the people who run this page for access.'],
    session_expired: ['Your session ended', 'Sign in again if the page asks you to, then try again.'],
    protocol_mismatch: ['The page and this form do not fit', 'Update the connector package of the page.'],
    api_base_mismatch: ['The page names another service', 'Its apiBase is not one of this form’s service.'],
    test_failed: ['Connection failed', 'Check the fields, then test again.'],
    save_failed: ['Not saved', 'Try again in a moment.'],
    invalid: ['Not saved', 'Correct the fields, then save again.'],
    changed_elsewhere: ['Someone else changed this connector', 'Load the latest version, then save again.'],
    stylesheet_failed: ['The page’s style sheet could not be loaded', 'The form keeps its own look.'],
  } satisfies Record<string, [title: string, hint: string]>,

  /** What is wrong with a field, in its own words. */
  issue: issueSentence,
};
