import type { ConnectorTypeData, DeliveryCheck, DeliveryDefinition } from '@connector-frame/catalog/types';
import { withDefaults } from '@connector-frame/catalog/validate';
import { systemClock, type Tester, type TestOutcome } from '@connector-frame/engine/connector-api';
import { ConnectorError } from '@connector-frame/engine/connector-api';
import { createTester } from '../connection-test/create-tester.js';
import { statusFailure, unexpected, unreachable, type Subject } from '../connection-test/failures.js';
import { failed, passed } from '../connection-test/outcome.js';
import type { HttpResponse } from '../output/send.js';
import { PollError } from '../poll/poll-error.js';
import { DeliveryClient } from './client.js';
import { isPage, matches, meaningOf, parseResponse, type ParsedResponse } from './responses.js';
import { compileTemplate } from './template.js';
import { variantOf } from './variant.js';

/** Statuses that stand for a meaning in the general messages. */
const STATUS_OF = new Map<string, number>([
  ['invalid_credentials', 401],
  ['forbidden', 403],
  ['not_found', 404],
  ['throttled', 429],
  ['retry', 500],
  ['rejected', 400],
]);

/** Creates the connection test of a type that is delivered to: it sends the `check` request. */
export function createDeliveryTester(
  type: Pick<ConnectorTypeData, 'name' | 'config'>,
  common: DeliveryDefinition,
): Tester {
  return createTester({ product: type.name }, async (given, { egress, signal, aws }) => {
    const config = withDefaults(type.config, given);
    const definition = variantOf(common, config);
    let subject: Subject = { product: type.name };
    try {
      const client = new DeliveryClient({ type, definition, config, egress, clock: systemClock, aws });
      ({ subject } = client);
      const { check } = definition;
      const scope = { settings: config.settings, now: systemClock.now() };
      if (check.kind === 'reach') {
        await client.send({ method: 'HEAD', path: '', origin: true }, scope, signal).catch((error: unknown) => {
          // Its home page may be on another site.
          if (!(error instanceof ConnectorError) || error.code !== 'redirected') throw error;
        });
        return passed('The server responded. The first delivery shows whether it accepts records');
      }
      const { body, text, accepted: _accepted, summary: _summary, kind: _kind, ...request } = check;
      const json = body === undefined ? undefined : compileTemplate(body, config.settings)(scope);
      const content = text ?? json;
      const response = await client.send(
        {
          method: content === undefined ? 'GET' : 'POST',
          ...request,
          ...(content !== undefined && { body: content }),
          ...(json !== undefined && { contentType: 'application/json' }),
        },
        scope,
        signal,
      );
      return outcomeOf(definition, check, response, subject);
    } catch (error) {
      if (error instanceof PollError) return error.outcome;
      if (error instanceof ConnectorError) return outcomeOfError(error, subject);
      throw error;
    }
  });
}

function outcomeOf(
  { responses = {} }: DeliveryDefinition,
  check: Extract<DeliveryCheck, { kind: 'request' }>,
  response: HttpResponse,
  subject: Subject,
): TestOutcome {
  const parsed: ParsedResponse = parseResponse(response);
  const { status } = response;
  if (check.accepted) {
    if (matches(check.accepted, parsed)) return passed(check.summary);
  } else if (status >= 200 && status < 300) {
    return isPage(response) ? unexpected(subject) : passed(check.summary);
  }
  const { means, rule } = meaningOf({ ...responses, rules: responses.rules ?? [] }, parsed, systemClock.now());
  const general = statusFailure(STATUS_OF.get(means) ?? status, subject);
  if (rule?.message === undefined) return general;
  return failed(general.reason, rule.message, { at: general.issues?.map(({ path }) => path) });
}

/** Converts the error of a request that got no usable response. */
function outcomeOfError(error: ConnectorError, subject: Subject): TestOutcome {
  const reasons = ['egress_refused', 'dns_failed', 'connect_failed', 'timeout', 'tls_failed', 'redirected'] as const;
  const reason = reasons.find((each) => each === error.code);
  if (reason) return unreachable(reason, subject);
  if (error.code === 'rate_limited') return failed('rate_limited', error.message);
  return failed(error.code === 'invalid_config' ? 'invalid_config' : 'unexpected_answer', error.message);
}
