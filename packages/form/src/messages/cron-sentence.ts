import { clock, type createFormat, type Template } from './format.js';

type CronMessages = Readonly<
  Record<'cronMinutes' | 'cronHours' | 'cronDays' | 'cronWeekdays' | 'cronWeekdaySpan' | 'cronMonths', Template>
>;

/** Patterns over minute, hour, day of month, month and weekday. */
const MINUTES = /^\*(?:\/(\d+))? \* \* \* \*$/;
const HOURS = /^(\d+) \*(?:\/(\d+))? \* \* \*$/;
const DAYS = /^(\d+) (\d+) (\*|\d+) \* (\*|[0-7](?:[,-][0-7])*)$/;

/**
 * Describes a cron expression of a common form; returns undefined for any other. The service
 * evaluates schedules in UTC.
 */
export function cronSentence(
  expression: string,
  messages: CronMessages,
  locale: string,
  format: ReturnType<typeof createFormat>,
): string | undefined {
  const cron = expression.trim().replaceAll(/\s+/g, ' ');
  const minutes = MINUTES.exec(cron);
  if (minutes) return format(messages.cronMinutes, Number(minutes[1] ?? 1));
  const hours = HOURS.exec(cron);
  if (hours) return format(messages.cronHours, Number(hours[2] ?? 1), hours[1]);

  const [, minute, hour, day, weekdays] = DAYS.exec(cron) ?? [];
  if (day === undefined || weekdays === undefined) return undefined;
  const at = clock(Number(hour), Number(minute));
  if (day !== '*') return weekdays === '*' ? format(messages.cronMonths, at, day) : undefined;
  if (weekdays === '*') return format(messages.cronDays, at);
  // The first of August 2027 is a Sunday.
  const name = (weekday: string): string =>
    new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' }).format(
      Date.UTC(2027, 7, 1 + Number(weekday)),
    );
  const [from = '', to = '', ...more] = weekdays.split('-');
  if (to)
    return more.length || to.length > 1 || from.length > 1
      ? undefined
      : format(messages.cronWeekdaySpan, at, name(from), name(to));
  return format(messages.cronWeekdays, at, new Intl.ListFormat(locale).format(from.split(',').map(name)));
}
