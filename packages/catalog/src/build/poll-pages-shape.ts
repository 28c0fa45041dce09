/** Shape of pages and cursors of a `poll` definition: see `src/poll-pages.ts`. */
import { isPlain } from '../validate/objects.js';
import { givenPath, name, parameter, path, setting } from './poll-primitives.js';
import { request } from './poll-request-shape.js';
import { secondsFrom, unit } from './poll-values-shape.js';
import { kinds, map, object, text, whole, word, yes, type Shape } from './shape.js';

const pageKind = word(
  'none',
  'link_header',
  'header_cursor',
  'header_url',
  'body_cursor',
  'body_headers',
  'body_url',
  'last_record',
  'offset',
  'page',
  'repeat',
  'narrow',
);
const end = { more: path, ends: word('empty_page') };
const relative = { relative_to: word('base_url') };
const first = whole(0, 1);

export const pagination = kinds({
  none: object({ kind: pageKind }),
  link_header: object({ kind: pageKind }, end),
  header_cursor: object({ kind: pageKind, header: name, parameter }, end),
  header_url: object({ kind: pageKind, header: name }, { ...end, ...relative }),
  body_cursor: object(
    { kind: pageKind, path: givenPath, parameter },
    { ...end, more: givenPath, json: yes, decode: word('percent') },
  ),
  body_headers: object({ kind: pageKind, headers: map(path) }, end),
  body_url: object({ kind: pageKind, path }, { parameter, ...end, ...relative }),
  last_record: object({ kind: pageKind, path, parameter }, { ...end, json: yes }),
  offset: object(
    { kind: pageKind, parameter },
    { end: parameter, first, step: word('page_size'), total: path, ...end },
  ),
  repeat: object({ kind: pageKind }, end),
  narrow: object({ kind: pageKind }, end),
  page: object({ kind: pageKind, parameter, first }, { total: path, total_pages: path, ...end }),
});

const cursorKind = word('time', 'link', 'continue', 'id', 'none');
const overlap = { overlap_seconds: whole(0, 604_800) };
const seen = whole(1, 100_000);
const start: Shape = (value, pointer, complain) =>
  (isPlain(value) ? object({ ago: setting }, { unit }) : setting)(value, pointer, complain);
const retention = { retention_seconds: whole(3_600, 315_360_000) };

export const cursor = kinds({
  time: object(
    { kind: cursorKind, ...overlap },
    {
      start,
      order: word('ascending', 'descending', 'any'),
      longest_seconds: secondsFrom(60, 31_536_000),
      whole_days: yes,
      ...retention,
      seen,
      resume: word('again'),
    },
  ),
  link: object({ kind: cursorKind, ...overlap }, { start, ...retention, seen }),
  continue: object(
    { kind: cursorKind },
    {
      token: object({ path }, { parameter }),
      first: object({ ...request.required, token: path }, request.optional),
    },
  ),
  id: object({ kind: cursorKind }, { first: text(/^\S+$/, 'a text'), more: path, order: word('descending') }),
  none: object({ kind: cursorKind }),
});
