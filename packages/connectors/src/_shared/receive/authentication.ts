import { createHmac } from 'node:crypto';
import type { ConnectorConfig, ReceiveAuthentication } from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import type { ReceiverContext, RequestHead } from '@connector-frame/engine/connector-api';
import { isSameSecret } from './compare.js';
import { createJwtCheck } from './jwt.js';
import { ReplayGuard } from './replay-guard.js';
import { refused, signatureOf, type SenderCheck } from './sender-check.js';
import { headerOf } from './templates.js';

const PASSED: SenderCheck['verify'] = () => Promise.resolve(undefined);

/**
 * Creates the check of a connector. Methods whose fields are empty are skipped.
 */
export function createSenderCheck(
  definition: ReceiveAuthentication | readonly ReceiveAuthentication[],
  config: ConnectorConfig,
  context: ReceiverContext,
): SenderCheck {
  const methods: readonly ReceiveAuthentication[] = Array.isArray(definition) ? definition : [definition];
  for (const method of methods) {
    const check = checkOf(method, config, context);
    if (check) return check;
  }
  // A type whose only method has no secret can't recognize anyone.
  return {
    begin() {
      throw refused('this connector has no secret to recognize senders by');
    },
    verify: PASSED,
  };
}

function checkOf(
  method: ReceiveAuthentication,
  config: ConnectorConfig,
  context: ReceiverContext,
): SenderCheck | undefined {
  const valueOf = (pointer: string): string => {
    const value = getAt(config, pointer);
    return typeof value === 'string' ? value : '';
  };
  if (method.kind === 'token') return tokenCheck(method.header ?? 'Authorization', context);
  if (method.kind === 'jwt') return createJwtCheck(method, config, context);
  if (method.kind === 'basic') {
    const [user, password] = [valueOf(method.user), valueOf(method.password)];
    if (user === '' || password === '') return undefined;
    return {
      begin(head) {
        const given = basicOf(headerOf(head, 'Authorization'));
        const isUser = isSameSecret(given?.user ?? '', user);
        if (!isSameSecret(given?.password ?? '', password) || !isUser) throw refused('user and password are wrong');
      },
      verify: PASSED,
    };
  }
  const secret = valueOf(method.secret);
  if (secret === '') return undefined;
  if (method.kind === 'hmac') return hmacCheck(method, secret, context);
  const { header, prefix = '' } = method;
  return {
    begin(head) {
      if (!isSameSecret(headerOf(head, header), prefix + secret)) throw refused(`${header} is wrong`);
    },
    verify: PASSED,
  };
}

function tokenCheck(header: string, { isToken }: ReceiverContext): SenderCheck {
  return {
    begin(head) {
      const given = headerOf(head, header);
      const bearer = /^bearer +(\S+)$/i.exec(given)?.[1];
      if (![bearer ?? given, basicOf(given)?.password ?? ''].some((text) => isToken(text)))
        throw refused(`${header} does not contain the token of this connector`);
    },
    verify: PASSED,
  };
}

function hmacCheck(
  method: Extract<ReceiveAuthentication, { kind: 'hmac' }>,
  secret: string,
  { clock }: ReceiverContext,
): SenderCheck {
  const { header, prefix = '', algorithm, encoding, signed = '{{body}}', timestamp } = method;
  const replays = new ReplayGuard(timestamp ? timestamp.tolerance_seconds * 1_000 : Infinity, clock);
  const parts = signed.split('{{body}}');
  const timeOf = (head: RequestHead): string => (timestamp ? headerOf(head, timestamp.header) : '');
  return {
    begin(head) {
      if (!headerOf(head, header).startsWith(prefix) || headerOf(head, header).length <= prefix.length)
        throw refused(`${header} has no signature`);
      if (timestamp && !replays.isRecent(Number(timeOf(head) || Number.NaN) * 1_000))
        throw refused('the time of the signature is too far from the current time');
    },
    verify(body, head) {
      const hmac = createHmac(algorithm, secret);
      for (const [index, part] of parts.entries()) {
        if (index > 0) hmac.update(body);
        hmac.update(
          part.replaceAll(/\{\{([^{}]*)\}\}/g, (_whole, name: string) =>
            name === 'timestamp' ? timeOf(head) : headerOf(head, name.slice('header.'.length)),
          ),
        );
      }
      const signature = prefix + hmac.digest(encoding);
      if (!isSameSecret(headerOf(head, header), signature)) throw refused('the signature does not match the body');
      return Promise.resolve(signatureOf(signature, replays));
    },
  };
}

/** Parses basic authentication. */
export function basicOf(authorization: string): { user: string; password: string } | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(authorization) ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
