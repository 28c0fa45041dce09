/** Shape of `setup` in a type file: see `src/setup.ts`. */
import { list, object, text, yes } from './shape.js';

const line = text(/^\S[^\r\n]*$/, 'text in one line');

export const setupShape = object(
  {
    field: text(/^\/(?:settings|secrets)(?:\/[^/]+)+$/, 'the pointer of a field, "/settings/..." or "/secrets/..."'),
    title: line,
    documentation: list(text(/^https:\/\/\S+$/, 'the address of a page, with https://')),
  },
  {
    aws_role: object(
      {},
      {
        statements: list(
          object({
            actions: list(text(/^[a-z0-9-]+:[A-Z][A-Za-z0-9]+$/, 'one action, like "s3:GetObject"')),
            resources: list(
              text(
                /^(?:\*|arn:\{\{partition\}\}:\S+|\{\{\/settings\/\w+\}\})$/,
                '"*", an ARN that starts with "arn:{{partition}}:", or a setting with a whole ARN',
              ),
            ),
          }),
        ),
      },
    ),
    key_pair: yes,
    steps: list(object({ title: line, text: text(/\S/, 'a text') })),
  },
);
