/** Shape of responses and rate limits in a `poll` definition: see `src/poll-responses.ts`. */
import { isPlain } from '../validate/objects.js';
import { line, name, path, setting } from './poll-primitives.js';
import { list, object, some, text, whole, word, type Shape } from './shape.js';

const status = whole(200, 599);
const value: Shape = (each, pointer, complain) => {
  if (!['string', 'number', 'boolean'].includes(typeof each))
    complain(pointer, 'must be a text, a number, true or false');
};

const rule: Shape = (each, pointer, complain) => {
  object(
    {
      means: word(
        'accepted',
        'empty',
        'throttled',
        'retry',
        'invalid_credentials',
        'forbidden',
        'not_found',
        'rejected',
      ),
    },
    {
      status: some(status),
      header: name,
      path,
      in: list(value),
      not: list(value),
      contains: text(/\S/, 'a text'),
      message: text(/^\S.*\.$/, 'a sentence'),
    },
  )(each, pointer, complain);
  if (!isPlain(each)) return;
  const has = (key: string): boolean => Object.hasOwn(each, key);
  if (!has('status') && !has('header') && !has('path')) complain(pointer, 'matches every response: add "status"');
  if (['in', 'not', 'contains'].some(has) && !has('header') && !has('path'))
    complain(pointer, 'compares no value: add "path" or "header"');
  const isSuccess = [each['status']].flat().some((code) => code === undefined || code === 200);
  if (isSuccess && !has('header') && !has('path') && !['accepted', 'empty'].includes(String(each['means'])))
    complain(pointer, 'rejects every success: add "path" or "header"');
};

/** See `PollResponseRule`. */
export const responses = list(rule);

const throttled: Shape = (each, pointer, complain) => {
  const shape =
    isPlain(each) && 'header' in each
      ? object({ status, header: name }, { is: line })
      : object({ status, path, in: list(text(/\S/, 'a text')) });
  shape(each, pointer, complain);
};

const waitForm = word('seconds', 'milliseconds', 'epoch', 'epoch_milliseconds', 'date');
const quota = { remaining: name, reset: name, reset_form: waitForm };

const limit: Shape = (each, pointer, complain) =>
  (isPlain(each) ? object({ field: setting, per: word('second', 'minute', 'hour') }) : setting)(
    each,
    pointer,
    complain,
  );

/** See `PollRate`. */
export const rate = object(
  {},
  {
    ...quota,
    quotas: list(object({ remaining: name, reset: name }, { reset_form: waitForm })),
    retry_after: object({}, { header: name, path, form: waitForm }),
    wait_seconds: whole(1, 3_600),
    throttled: list(throttled),
    limit,
  },
);
