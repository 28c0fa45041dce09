/** Consistency of a stream: its cursor advances, and its requests use what they are made for. */
import type { PollEach, PollPagination, PollStream } from '../types.js';
import { checkRecords, checkRequest, templatesOf } from './check-poll-request.js';
import { isNested } from './poll-names.js';
import { namesIn, textsIn } from './poll-texts.js';

type Add = (pointer: string, message: string) => void;

/** Kinds whose responses contain a token or link that can be kept. */
const TOKENS: readonly PollPagination['kind'][] = [
  'link_header',
  'header_cursor',
  'header_url',
  'body_cursor',
  'body_headers',
  'body_url',
];

/** Returns the names of the placeholders in values. */
const namesUsed = (...values: unknown[]): Set<string> =>
  new Set([...textsIn(values, '')].flatMap(({ text }) => namesIn(text).map((name) => name.split(':')[0] ?? '')));

const below =
  (add: Add, pointer: string): Add =>
  (rest, message) =>
    add(pointer + rest, message);

export function checkStream(stream: PollStream, add: Add): void {
  const { next, pagination, ...first } = stream;
  checkRequest(next ? first : stream, add);
  if (next) {
    checkRequest({ ...next, pagination }, (pointer, message) =>
      add(pointer.startsWith('/pagination') ? pointer : `/next${pointer}`, message),
    );
    if (pagination.kind === 'none') add('/next', 'is never sent: the pagination is "none"');
  }
  checkRecords(stream, add);
  const { base_url: base, role, headers, job } = stream;
  const used = namesUsed(templatesOf(stream), base, role, headers, job && templatesOf(job.start));
  if (stream.prepare) checkRequest(stream.prepare, below(add, '/prepare'));
  if (stream.each) checkEach(stream.each, used, add);
  if (stream.detail) checkDetail(stream, add);
  if (stream.job) checkJob(stream, add);
  if (stream.acknowledge) checkAcknowledge(stream, add);
  checkCursor(stream, used, add);
  const { kind } = stream.pagination;
  if (kind === 'repeat' && !('resume' in stream.cursor && stream.cursor.resume === 'again'))
    add('/cursor', 'needs "kind": "time" with "resume": "again": a restart does not know which page was the last');
  if (stream.job?.parts?.url && kind !== 'none') add('/pagination', 'must be "none": each part is one file');
}

function checkEach(each: PollEach, used: ReadonlySet<string>, add: Add): void {
  if (![...used].some((name) => /^each(?:\/|$)/.test(name))) add('/each', 'is read, but nothing says {{each}}');
  for (let [at, list]: [string, PollEach | undefined] = ['/each', each]; list && 'path' in list;) {
    checkRequest(list, below(add, at));
    if (list.each && list.setting !== undefined)
      add(`${at}/setting`, 'has values without a parent: leave out "setting" or "each"');
    if (list.each) {
      if (!namesUsed(templatesOf(list)).has('parent')) add(at, 'is read for each parent, but does not say {{parent}}');
      if (isNested(list.each)) add(`${at}/each/each`, 'is a third level: only two are read');
    }
    at += '/each';
    list = list.each;
  }
}

function checkDetail({ detail, records, cursor }: PollStream, add: Add): void {
  if (!detail) return;
  if (detail.early && cursor.kind === 'id')
    add('/detail/early', 'is not for the cursor "id": its pages follow the ids of the list');
  checkRequest(detail, below(add, '/detail'));
  const used = namesUsed(templatesOf(detail), detail.headers);
  if (detail.batch === undefined) {
    if (detail.ids !== undefined) add('/detail/ids', 'is for details with "batch"');
    if (![...used].some((name) => name.startsWith('/record/')))
      add('/detail', 'must say {{/record/...}}, or every record has the same detail');
    return;
  }
  const lists = [...textsIn([detail.query, detail.form], '')].some(({ text }) => text === 'ids');
  if (!used.has('ids') && !lists) add('/detail', 'has "batch": it must say {{ids}}');
  if (detail.ids === undefined && typeof records.id !== 'string')
    add('/records', 'needs one "id": details are requested by it');
  if (detail.records === undefined) add('/detail', 'has "batch": it needs "records" with "path" and "id"');
}

function checkAcknowledge({ acknowledge, records, detail }: PollStream, add: Add): void {
  if (!acknowledge) return;
  checkRequest(acknowledge, below(add, '/acknowledge'));
  if (typeof records.id !== 'string') add('/records', 'needs one "id": records are acknowledged by it');
  if (records.omit) add('/records/omit', 'may remove the id by which records are acknowledged');
  if (!namesUsed(templatesOf(acknowledge)).has('id')) add('/acknowledge', 'must say {{id}}: the record it is about');
  if (detail?.into === 'replace') add('/detail/into', 'replaces the records that are acknowledged: use "merge"');
}

function checkJob({ job, cursor, path, query, body }: PollStream, add: Add): void {
  if (!job) return;
  checkRequest(job.start, below(add, '/job/start'));
  if (job.again) {
    checkRequest(job.again, below(add, '/job/again'));
    if (!namesUsed(templatesOf(job.again)).has('job')) add('/job/again', 'must say {{job}}: the export to run again');
    if (cursor.kind === 'time') add('/job/again', 'reads all records: the cursor must be "none"');
  }
  if (job.status) checkRequest(job.status, below(add, '/job/status'));
  if (cursor.kind !== 'time' && cursor.kind !== 'none')
    add('/cursor', 'must be "time" or "none": an export has no place to continue from');
  if (job.parts && !job.status) add('/job/parts', 'are in the status: add "status"');
  const used = namesUsed(path, query, body);
  if (job.parts && job.parts.url !== true && !used.has('part')) add('', 'must say {{part}}, or use "url" in "parts"');
  if (job.status && !namesUsed(templatesOf(job.status)).has('job')) add('/job/status', 'must say {{job}}');
}

function checkCursor(stream: PollStream, used: ReadonlySet<string>, add: Add): void {
  const { cursor, pagination, records } = stream;
  const { kind } = cursor;
  const hasToken = TOKENS.includes(pagination.kind);
  if (kind === 'time' || kind === 'link') {
    if (records.time === undefined) add('/records', 'needs "time": the cursor follows it');
    const order = kind === 'time' ? cursor.order : undefined;
    if (order !== 'descending' && order !== 'any' && !used.has('since'))
      add('', 'must say {{since}}, or everything is read again each time');
    if (order === 'any' && used.has('since'))
      add('/cursor/order', 'is "any", but the request says {{since}}: leave it out');
  }
  if (kind === 'time' && cursor.longest_seconds !== undefined) {
    if (!used.has('until')) add('', 'must say {{until}}, or a window has no end');
    const longest = cursor.longest_seconds;
    const shortest = typeof longest === 'number' ? longest : (longest.minimum ?? 60);
    if (shortest < 2 * cursor.overlap_seconds)
      add('/cursor/longest_seconds', 'must be at least twice the overlap, or the cursor hardly moves');
  }
  if (pagination.kind === 'narrow' && !(kind === 'time' && cursor.order === undefined && used.has('until')))
    add('/pagination', 'needs {{until}} and the cursor "time" without "order": each page ends at an earlier time');
  if (kind === 'link' && !hasToken) add('/cursor', 'follows a link or token: the pagination must give one');
  if (kind === 'continue') {
    if (!cursor.token && !hasToken)
      add('/cursor', 'continues with the token of the next page: the pagination must give one, or add "token"');
    if (cursor.first) checkRequest(cursor.first, below(add, '/cursor/first'));
  }
  if (kind !== 'id') return;
  if (typeof records.id !== 'string') add('/records', 'needs one "id": the cursor follows it');
  if (cursor.order === 'descending') {
    if (cursor.first !== undefined || cursor.more !== undefined)
      add('/cursor', 'has "first" and "more" only without "order": the pagination ends the pages');
    return;
  }
  if (pagination.kind !== 'none') add('/pagination', 'must be "none": records behind the last id are the next page');
  if (!used.has('after')) add('', 'must say {{after}}');
}
