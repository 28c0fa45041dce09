/** Formats of timestamps in a `poll` definition: see `PollTimeForm`. */
const NAMED = ['rfc3339', 'rfc3339_seconds', 'rfc3339_offset', 'http', 'date'];
const RELATIVE = ['seconds_ago', 'minutes_ago', 'hours_ago', 'days_ago'];
const EPOCH = /^(?:seconds|milliseconds|microseconds|nanoseconds|ticks)(?:@\d{4}-\d{2}-\d{2})?$/;
const PATTERN = /^(?:[^%{}]|%[YymbdHIpMSLfNz%]|%:z)+$/;

/** Formats that are listed in a message. */
export const TIME_FORMS = [
  ...NAMED,
  'seconds',
  'milliseconds',
  'microseconds',
  'nanoseconds',
  'ticks',
  ...RELATIVE,
  'a pattern like %Y-%m-%d %H:%M:%S',
];

/** @param where relative times occur in requests only; records need the date and a year */
export function isTimeForm(form: string, where: 'request' | 'record'): boolean {
  if (form.includes('%')) return PATTERN.test(form) && (where === 'request' || /%[Yy]/.test(form));
  const [, day] = form.split('@');
  if (EPOCH.test(form)) return day === undefined || !Number.isNaN(Date.parse(day));
  return NAMED.includes(form) || (where === 'request' && RELATIVE.includes(form));
}
