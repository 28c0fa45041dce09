/** Names that the templates of a stream may use besides settings. */
import type { PollEach, PollStream } from '../types.js';

export const TIMES = ['since', 'until'];
/** Stands for the fields of an entry: `each/region`. */
const ENTRY_FIELDS = 'each/...';
/** Names of placeholders that every definition has. */
export const RESERVED = [...TIMES, 'after', 'each', 'parent', 'page_size', 'ids', 'item', 'uuid', 'job', 'part', 'now'];

interface Templates {
  /** Relative to the stream. */
  pointer: string;
  value: unknown;
  names: readonly string[];
}

/** Returns the parts of a stream with the names that the templates in each may use. */
export function templatesWithNames({
  each,
  detail,
  job,
  cursor,
  prepare,
  records,
  acknowledge,
  ...stream
}: PollStream): Templates[] {
  const entry = each ? ['each', ...(hasFields(each) ? [ENTRY_FIELDS] : []), ...(isNested(each) ? ['parent'] : [])] : [];
  const times = cursor.kind === 'time' ? TIMES : cursor.kind === 'link' ? ['since'] : [];
  const after = cursor.kind === 'id' && cursor.order === undefined ? ['after'] : [];
  const base = ['page_size', ...entry, ...times];
  const whole = [...base, ...after, ...(job ? ['job', ...(job.parts ? ['part'] : [])] : [])];
  return [
    { pointer: '', value: stream, names: whole },
    { pointer: '/records', value: records, names: entry },
    { pointer: '/acknowledge', value: acknowledge, names: [...entry, 'id'] },
    { pointer: '/cursor', value: cursor, names: base },
    { pointer: '/prepare', value: prepare, names: entry },
    ...(each ? entryTemplates(each, '/each') : []),
    { pointer: '/detail', value: detail, names: [...whole, ...(detail?.batch === undefined ? [] : ['ids'])] },
    { pointer: '/job/start', value: job?.start, names: base },
    { pointer: '/job/again', value: job?.again, names: [...base, 'job'] },
    { pointer: '/job/status', value: job?.status, names: [...base, 'job'] },
  ];
}

function entryTemplates(each: PollEach, pointer: string): Templates[] {
  if (!('path' in each)) return [];
  const { each: outer, ...list } = each;
  return [
    { pointer, value: list, names: ['page_size', ...(outer ? ['parent'] : [])] },
    ...(outer ? entryTemplates(outer, `${pointer}/each`) : []),
  ];
}

/** Whether entries are objects. The values of a setting that replaces a list are not. */
const hasFields = (each: PollEach): boolean =>
  'path' in each ? each.setting === undefined : 'id' in each && each.id !== undefined;

/** Whether a placeholder is one of `names`. */
export const isNamed = (name: string, names: readonly string[]): boolean =>
  names.includes(name) || (/^each\/./.test(name) && names.includes(ENTRY_FIELDS));

export const isNested = (each: PollEach): boolean => 'path' in each && each.each !== undefined;
