import { createHash } from 'node:crypto';
import type { ConnectorConfig, ConnectorTypeData, ReceiveDefinition } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import {
  ConnectorError,
  RequestError,
  type ConnectorCode,
  type CreateReceiver,
  type RequestHead,
  type RequestResponse,
} from '@connector-frame/engine/connector-api';
import { createSenderCheck } from './authentication.js';
import { recordLines } from './records.js';
import type { Signature } from './sender-check.js';
import { fillJson, headerOf, valuesOf } from './templates.js';

/** Returns the code that a type gets from its `receive` definition. */
export function receiveCode(type: ConnectorTypeData): ConnectorCode {
  const { receive } = type;
  if (!receive) return {};
  return {
    createInput(config) {
      requireSupported(receive, config);
      return { kind: 'push' };
    },
    createReceiver: createDefinedReceiver(receive),
  };
}

/** @throws ConnectorError if a setting asks for what can't be honored */
function requireSupported({ unsupported = [] }: ReceiveDefinition, config: ConnectorConfig): void {
  for (const { field, in: values, message } of unsupported) {
    const value = getAt(config, field);
    if (values.some((each) => each === value)) throw new ConnectorError('invalid_config', message, 'permanent');
  }
}

const createDefinedReceiver =
  (definition: ReceiveDefinition): CreateReceiver =>
  (config, context) => {
    requireSupported(definition, config);
    const { records, challenge, id, max_bytes: maxBytes, response = {}, rejected } = definition;
    const check = createSenderCheck(definition.authentication, config, context);
    const signatures = new WeakMap<RequestHead, Signature>();
    const now = (): number => context.clock.now();
    return {
      maxBytes,

      begin(head) {
        if (head.path !== '') throw new RequestError(404, 'Not found. Use the address of the connector as it is.');
        const value = challenge?.method === head.method ? headerOf(head, challenge.header) : '';
        if (challenge && value !== '')
          return jsonResponse(200, fillJson(challenge.json, valuesOf(head, now(), { value })));
        check.begin(head);
        return undefined;
      },

      async read(body, head) {
        const signature = await check.verify(body, head);
        if (signature?.isRepeated) return { lines: [] };
        if (signature) signatures.set(head, signature);
        const lines = await recordLines(body, head, now(), { definition: records, config, maxBytes });
        const key = signature?.key ?? (id === undefined ? '' : headerOf(head, id));
        return key === '' ? { lines } : { lines, position: `received:${digest(key)}` };
      },

      accepted(_count, _tooLarge, head) {
        signatures.get(head)?.stored();
        const { status = 200, json } = response;
        return json === undefined
          ? { status, contentType: 'text/plain; charset=utf-8', body: '' }
          : jsonResponse(status, fillJson(json, valuesOf(head, now())));
      },

      ...(rejected && {
        rejected: (status: number, message: string, head: RequestHead) =>
          jsonResponse(status, fillJson(rejected.json, valuesOf(head, now(), { message }))),
      }),
    };
  };

const digest = (key: string): string => createHash('sha256').update(key).digest('base64');

const jsonResponse = (status: number, body: unknown): RequestResponse => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(body),
});
