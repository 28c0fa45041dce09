/** Shape of `poll` in a type file: the keys defined in `src/poll.ts` and the values each takes. */
import { authenticationShape } from './poll-authentication-shape.js';
import { cursor, pagination } from './poll-pages-shape.js';
import { field, path, setting, template } from './poll-primitives.js';
import { address, omit, only, recordList, request, when } from './poll-request-shape.js';
import { rate, responses } from './poll-responses-shape.js';
import { acknowledge, detail, each, job } from './poll-steps-shape.js';
import { oneOf } from './problem.js';
import { numberFrom, secondsFrom, values } from './poll-values-shape.js';
import { isTimeForm, TIME_FORMS } from './time-form.js';
import { list, map, object, some, text, word, type Shape } from './shape.js';

const timeForm: Shape = (value, pointer, complain) => {
  if (typeof value !== 'string' || !isTimeForm(value, 'record'))
    complain(pointer, `must be the format of a time: ${oneOf(TIME_FORMS.filter((form) => !form.endsWith('_ago')))}`);
};
const zone = text(
  /^(?:UTC|[A-Z]\w+(?:\/[\w+-]+)+|\/settings\/[^/]+)$/,
  'a time zone like "Europe/Berlin", or a setting with one',
);
const stream = object(
  {
    ...request.required,
    name: text(/^[a-z][a-z0-9-]*$/, 'lower-case letters, digits and "-"'),
    page_size: numberFrom(1, 10_000),
    records: object(recordList.required, {
      ...recordList.optional,
      id: some(path),
      time: some(path),
      time_form: timeForm,
      only: some(only),
      omit: some(omit),
    }),
    pagination,
    cursor,
  },
  {
    ...request.optional,
    when,
    prepare: object(request.required, request.optional),
    each,
    next: object(request.required, request.optional),
    detail,
    acknowledge,
    job,
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
    values,
    time_zone: zone,
    interval_seconds: secondsFrom(10, 86_400),
    schedule: setting,
    rate,
    unsupported: list(field),
    responses,
  },
);
