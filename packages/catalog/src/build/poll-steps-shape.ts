/** Shape of parents, details and exports of a `poll` definition: see `src/poll-steps.ts`. */
import { isPlain } from '../validate/objects.js';
import { pagination } from './poll-pages-shape.js';
import { path } from './poll-primitives.js';
import { only, request, when } from './poll-request-shape.js';
import { source } from './poll-values-shape.js';
import { list, object, some, text, whole, yes, type Shape } from './shape.js';

const value = text(/^[^\r\n]+$/, 'a text in one line');

export const each: Shape = (found, pointer, complain) => {
  const shape =
    isPlain(found) && 'setting' in found && !('path' in found)
      ? object({ setting: source }, { id: path })
      : isPlain(found) && 'values' in found
        ? object({ values: list(value) })
        : object(
            {
              ...request.required,
              page_size: whole(1, 10_000),
              records: object({ path, id: path }, { only: some(only) }),
              pagination,
            },
            { ...request.optional, setting: source, refresh_seconds: whole(60, 86_400), each },
          );
  shape(found, pointer, complain);
};

export const detail = object(request.required, {
  ...request.optional,
  when,
  records: object({ path }, { id: path }),
  into: text(/^\w+$/, '"merge", "replace" or the name of a property'),
  concurrency: whole(1, 16),
  batch: whole(1, 1_000),
  ids: path,
  early: yes,
});

export const acknowledge = object(request.required, { ...request.optional, when });

export const job = object(
  {
    start: object({ ...request.required, id: path }, request.optional),
  },
  {
    every_seconds: whole(60, 2_592_000),
    again: object({ ...request.required, id: path }, request.optional),
    status: object(
      { ...request.required, value: path, done: list(value) },
      { ...request.optional, failed: list(value) },
    ),
    parts: object({ path }, { id: path, url: yes }),
    timeout_seconds: whole(60, 604_800),
  },
);
