import type {
  ConnectorConfig,
  ConnectorTypeData,
  DeliveryAddress,
  DeliveryDefinition,
  DeliveryRequest,
  PollSingleAuthentication,
} from '@connector-frame/catalog/types';
import { getAt } from '@connector-frame/catalog/validate';
import type { AwsRoles, Clock, Egress } from '@connector-frame/engine/connector-api';
import { statusFailure, type Subject } from '../connection-test/failures.js';
import { failed } from '../connection-test/outcome.js';
import { send, type HttpResponse } from '../output/send.js';
import { createAuthentication, secretsOf, selectedMethod } from '../poll/authentication.js';
import { PollError } from '../poll/poll-error.js';
import { setHeader, type Authentication } from '../poll/signing.js';
import { addressFields, readBase, requestUrl } from './address.js';
import type { Scope } from './placeholders.js';
import { fillEntries } from './template.js';
import { tokenRequester } from './token-request.js';
import { readTls, type TlsOptions } from './tls.js';

export interface DeliveryClientOptions {
  type: Pick<ConnectorTypeData, 'name' | 'config'>;
  definition: DeliveryDefinition;
  /** With defaults. */
  config: ConnectorConfig;
  egress: Egress;
  clock: Clock;
  /** The service's own identity at AWS. */
  aws?: AwsRoles | undefined;
}

export interface Outgoing extends DeliveryRequest {
  /** Default: that of the delivery. */
  base_url?: DeliveryAddress;
  /** Leaves out the path: of a webhook, even an empty request might count as an event. */
  origin?: true;
  body?: Buffer | string;
  contentType?: string;
  encoding?: 'gzip';
}

/** Maximum bytes of a response: one that reports an error for each of 10,000 records. */
const MAX_RESPONSE = 4_000_000;

/** An HTTP client for one vendor and configuration. Its errors never quote a response. */
export class DeliveryClient {
  readonly subject: Subject;
  readonly #options: DeliveryClientOptions;
  readonly #base: URL;
  readonly #authentication: Authentication | undefined;
  readonly #tls: TlsOptions;

  /** @throws ConnectorError `invalid_config` */
  constructor(options: DeliveryClientOptions) {
    this.#options = options;
    const { type, definition, config, egress, clock, aws: roles } = options;
    const method = methodOf(definition, config);
    const address = addressFields(definition.base_url).find((field) => (getAt(config, field) ?? '') !== '');
    const credential = method && secretsOf(method).at(-1);
    this.subject = {
      product: type.name,
      ...(address !== undefined && { address }),
      ...(credential !== undefined && { credential }),
    };
    this.#base = readBase(definition.base_url, config);
    this.#tls = readTls(definition.tls, config);
    const { subject } = this;
    this.#authentication =
      method &&
      createAuthentication(method, {
        config,
        subject,
        base: this.#base,
        now: () => clock.now(),
        vendorNow: () => clock.now(),
        egress,
        roles,
        requester: tokenRequester(egress, subject, () => clock.now()),
        refused: () => new PollError(statusFailure(401, subject), 'permanent'),
      });
  }

  async send(request: Outgoing, scope: Scope, signal: AbortSignal): Promise<HttpResponse> {
    const first = await this.#send(request, scope, signal);
    // A token may be revoked before it expires.
    return this.#authentication?.renew(first) ? this.#send(request, scope, signal) : first;
  }

  async #send(request: Outgoing, scope: Scope, signal: AbortSignal): Promise<HttpResponse> {
    const { config, egress } = this.#options;
    const address = request.base_url === undefined ? this.#base : readBase(request.base_url, config);
    const base = request.origin ? new URL('/', address) : address;
    const headers = new Headers({ accept: 'application/json' });
    if (request.contentType !== undefined) headers.set('content-type', request.contentType);
    if (request.encoding !== undefined) headers.set('content-encoding', request.encoding);
    for (const [name, value, template] of fillEntries(request.headers, scope))
      setHeader(headers, name, value, /(\/settings\/[^{}]+)\}\}/.exec(template)?.[1] ?? '');
    const method = request.method ?? 'POST';
    const content = request.body;
    const outgoing = {
      method,
      url: requestUrl(base, request, scope),
      headers,
      ...(content !== undefined && { body: content }),
    };
    await this.#authentication?.sign(outgoing, signal);
    const { body } = outgoing;
    return send(
      egress,
      {
        url: outgoing.url.href,
        method,
        headers: outgoing.headers,
        ...(body !== undefined && { body }),
        ...this.#tls,
        product: this.subject.product,
        maxBytes: MAX_RESPONSE,
      },
      signal,
    );
  }
}

/** Returns the selected authentication, or `undefined` if the configuration has none. */
function methodOf(
  { authentication, authenticate_if: only }: DeliveryDefinition,
  config: ConnectorConfig,
): PollSingleAuthentication | undefined {
  if (!authentication || (only !== undefined && (getAt(config, only) ?? '') === '')) return undefined;
  const method = selectedMethod(authentication, config);
  const isChosen = authentication.kind === 'choice' && getAt(config, authentication.field) !== undefined;
  if (!method && isChosen) throw new PollError(failed('invalid_config', 'Choose how to sign in.'), 'permanent');
  return method;
}
