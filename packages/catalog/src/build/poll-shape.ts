/** Shape of `poll` in a type file: the keys defined in `src/poll.ts` and the values each takes. */
import { authenticationShape } from './poll-authentication-shape.js';
import { parameter, path, setting, template } from './poll-primitives.js';
import { address, recordList, request } from './poll-request-shape.js';
import { rate, responses } from './poll-responses-shape.js';
import { oneOf } from './problem.js';
import { isTimeForm, TIME_FORMS } from './time-form.js';
import { kinds, list, map, object, some, text, whole, word, yes, type Shape } from './shape.js';

const timeForm: Shape = (value, pointer, complain) => {
  if (typeof value !== 'string' || !isTimeForm(value, 'record'))
    complain(pointer, `must be the format of a time: ${oneOf(TIME_FORMS.filter((form) => !form.endsWith('_ago')))}`);
};
const zone = text(
  /^(?:UTC|[A-Z]\w+(?:\/[\w+-]+)+|\/settings\/[^/]+)$/,
  'a time zone like "Europe/Berlin", or a setting with one',
);
const pageKind = word('none', 'link_header', 'body_cursor', 'body_url', 'offset', 'page');
const pagination = kinds({
  none: object({ kind: pageKind }),
  link_header: object({ kind: pageKind }),
  body_cursor: object({ kind: pageKind, path, parameter }, { more: path }),
  body_url: object({ kind: pageKind, path }, { parameter }),
  offset: object({ kind: pageKind, parameter }),
  page: object({ kind: pageKind, parameter, first: whole(0, 1) }),
});

const cursorKind = word('time', 'link', 'id', 'none');
const overlap = { overlap_seconds: whole(0, 604_800) };
const seen = whole(1, 100_000);
const retention = whole(3_600, 315_360_000);
const cursor = kinds({
  time: object(
    { kind: cursorKind, ...overlap },
    {
      start: setting,
      longest_seconds: whole(60, 31_536_000),
      retention_seconds: retention,
      whole_days: yes,
      seen,
      resume: word('again'),
    },
  ),
  link: object({ kind: cursorKind, ...overlap }, { start: setting, retention_seconds: retention, seen }),
  id: object({ kind: cursorKind }),
  none: object({ kind: cursorKind }),
});

const pageSize = whole(1, 10_000);
const stream = object(
  {
    ...request.required,
    name: text(/^[a-z][a-z0-9-]*$/, 'lower-case letters, digits and "-"'),
    page_size: pageSize,
    records: object(recordList.required, {
      ...recordList.optional,
      id: some(path),
      time: path,
      time_form: timeForm,
      only: object({ path, field: setting }),
    }),
    pagination,
    cursor,
  },
  {
    ...request.optional,
    each: object(
      { ...request.required, page_size: pageSize, records: object({ path, id: path }), pagination },
      request.optional,
    ),
  },
);

export const pollShape = object(
  {
    verified: word('documented', 'independent', 'live'),
    documentation: list(text(/^https:\/\/\S+$/, 'the address of a page, with https://')),
    base_url: address,
    authentication: authenticationShape,
    streams: list(stream),
    check: object({ ...request.required, records: object(recordList.required, recordList.optional) }, request.optional),
  },
  {
    headers: map(template),
    time_zone: zone,
    interval_seconds: whole(10, 86_400),
    schedule: setting,
    rate,
    responses,
  },
);
