import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { DeliveryBody, DeliveryTemplate } from '@connector-frame/catalog/types';
import { encodeLines } from '@connector-frame/engine/connector-api';
import type { Scope } from './placeholders.js';
import { compileTemplate, fillText, type Render } from './template.js';

/** Encodes records as the body of a request. */
export interface BodyEncoder {
  contentType: string;
  /** Returns the text of one record in the body. */
  record(scope: Scope): string;
  /** Returns the body with the texts of its records. */
  body(texts: readonly string[], scope: Scope): Buffer;
}

/** Stands for the list of records while the rest of the document is rendered. */
const LIST = '{{records}}';
const compress = promisify(gzip);

export function createBodyEncoder(body: DeliveryBody, settings: Scope['settings']): BodyEncoder {
  switch (body.kind) {
    case 'json':
      return JSON.stringify(body.template).includes(LIST)
        ? listEncoder(body.template, body.record, settings)
        : singleEncoder('application/json', compileTemplate(body.template, settings));
    case 'lines': {
      const record = recordTemplate(body.record, settings);
      const action = body.action === undefined ? undefined : compileTemplate(body.action, settings);
      return {
        contentType: 'application/x-ndjson',
        record: (scope) => (action ? `${action(scope) ?? '{}'}\n${record(scope)}` : record(scope)),
        body: (texts) => encodeLines({ lines: texts, bytes: bytesOf(texts) }, { between: '\n', after: '\n' }),
      };
    }
    default:
      return singleEncoder('application/x-www-form-urlencoded', (scope) => {
        const fields = Object.entries(body.fields).flatMap(([name, template]) => {
          const value = fillText(template, scope);
          return value === undefined ? [] : [[name, value]];
        });
        return new URLSearchParams(fields).toString();
      });
  }
}

const recordTemplate = (
  template: DeliveryTemplate | undefined,
  settings: Scope['settings'],
): ((scope: Scope) => string) => {
  if (template === undefined) return ({ record }) => record?.line ?? '{}';
  const render = compileTemplate(template, settings);
  return (scope) => render(scope) ?? '{}';
};

function singleEncoder(contentType: string, render: Render): BodyEncoder {
  return {
    contentType,
    record: (scope) => render(scope) ?? '',
    body: (texts) => Buffer.from(texts.join('')),
  };
}

function listEncoder(
  template: DeliveryTemplate,
  record: DeliveryTemplate | undefined,
  settings: Scope['settings'],
): BodyEncoder {
  // The marker can't be part of another value: the template compiler would look it up as a name.
  const marker = 'list-of-records-0f6b1e';
  const marked: DeliveryTemplate = JSON.parse(JSON.stringify(template).replace(LIST, marker));
  const document = compileTemplate(marked, settings);
  return {
    contentType: 'application/json',
    record: recordTemplate(record, settings),
    body: (texts, scope) => {
      const [before = '', after = ''] = (document(scope) ?? '').split(`"${marker}"`);
      return encodeLines(
        { lines: texts, bytes: bytesOf(texts) },
        { before: `${before}[`, between: ',', after: `]${after}` },
      );
    },
  };
}

const bytesOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/** Compresses a body. Small ones would not get smaller. */
export async function compressBody(body: Buffer): Promise<{ body: Buffer; encoding?: 'gzip' }> {
  return body.byteLength < 1_024 ? { body } : { body: await compress(body), encoding: 'gzip' };
}
