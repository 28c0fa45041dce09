/** Shape of the requests of a `poll` definition: see `src/poll-request.ts`. */
import { isPlain } from '../validate/objects.js';
import { joinPointer } from '../validate/pointer.js';
import { template } from './poll-primitives.js';
import { map, object, some, text, word, type Shape } from './shape.js';

/** JSON with templates. */
const json: Shape = (value, pointer, complain) => {
  if (typeof value === 'string' || Array.isArray(value) || isPlain(value)) {
    if (typeof value === 'string') return;
    for (const [key, each] of Object.entries(value)) json(each, joinPointer(pointer, key), complain);
  } else if (value !== null && typeof value !== 'number' && typeof value !== 'boolean')
    complain(pointer, 'must be JSON');
};

const container: Shape = (value, pointer, complain) => {
  if (Array.isArray(value) || isPlain(value)) json(value, pointer, complain);
  else complain(pointer, 'must be an object or a list');
};

/** Keys of a request, to be combined with those of a stream, a list or a check. */
export const request = {
  required: { path: text(/^\/[^\s?#]*$/, 'a path that begins with "/"') },
  optional: {
    method: word('GET', 'POST', 'PUT'),
    query: map(some(template)),
    body: container,
    form: map(some(template)),
    graphql: object({ query: text(/\S/, 'a GraphQL query') }, { variables: map(json) }),
  },
};
