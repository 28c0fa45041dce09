import { randomUUID } from 'node:crypto';
import { getAt, setAt } from '@connector-frame/catalog/validate';
import { isRecord, type JsonValue } from '@connector-frame/engine/connector-api';
import type { PollRequest, PollResponseRule, PollTemplate } from '@connector-frame/catalog/types';
import type { BodyFormat } from './body-format.js';
import { fillBody } from './body-template.js';
import { givenField } from './given-paths.js';
import { givenVariables } from './graphql-variables.js';
import { setHeader } from './signing.js';
import { fill, parametersOf, valueOf, type Values } from './template.js';

/** A request to the vendor, without headers and credentials. */
export interface PollCall {
  method: string;
  url: URL;
  /** Besides those of the definition. */
  headers?: Headers;
  /** Role at AWS that signs it; empty if the configuration names none. */
  role?: string;
  /** JSON value, or the fields of a form. */
  body?: { json: JsonValue } | { form: URLSearchParams };
  /** Format of the response. */
  format: BodyFormat;
  /** Hosts of files that the response may redirect to. */
  downloads?: readonly string[];
  /** A file on another host, which is read without credentials. */
  file?: true;
  /** What responses mean, before the rules of the definition. */
  responses?: readonly PollResponseRule[];
  /** Not the first page: a response without records could also mean that its token has expired. */
  continued?: true;
  /** The response reports errors as GraphQL does. */
  graphql?: true;
}

/** Returns the method and the body of a request. */
export function callOf(request: PollRequest, url: URL, values: Values): PollCall {
  const { body, form, graphql, format, csv, page_line: pageLine, responses, download_hosts: downloads } = request;
  const content: Pick<PollCall, 'body' | 'graphql'> =
    graphql !== undefined
      ? {
          body: { json: graphqlBody(graphql, values) },
          graphql: true,
        }
      : body !== undefined
        ? { body: { json: fillBody(body, values) } }
        : form !== undefined
          ? { body: { form: new URLSearchParams(parametersOf(form, values)) } }
          : {};
  const method = request.method ?? (content.body ? 'POST' : 'GET');
  const responds: BodyFormat = {
    ...(format && { format }),
    ...(csv && { csv }),
    ...(pageLine && { page_line: pageLine }),
  };
  return {
    method,
    url,
    format: responds,
    ...(responses && { responses }),
    ...(request.role !== undefined && { role: fill(request.role, values) ?? '' }),
    ...(downloads && { downloads }),
    ...(request.headers && { headers: headersOf(request.headers, { ...values, uuid: randomUUID() }) }),
    ...content,
  };
}

function graphqlBody(graphql: NonNullable<PollRequest['graphql']>, values: Values): JsonValue {
  const query = givenField(graphql.query) === undefined ? graphql.query : (fill(graphql.query, values) ?? '');
  const variables = fillBody(graphql.variables ?? {}, values);
  if (graphql.given === undefined) return { query, variables };
  const given = givenVariables(query, valueOf(graphql.given, values));
  return { query, variables: { ...(isRecord(variables) && variables), ...given } };
}

/**
 * Returns the call with a parameter set, such as a page token.
 *
 * @param parameter name of a query parameter, or a JSON Pointer into the body. A number there is
 * replaced by a number.
 */
export function withParameter(call: PollCall, parameter: string, value: JsonValue): PollCall {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (!parameter.startsWith('/')) {
    const url = new URL(call.url);
    url.searchParams.set(parameter, text);
    return { ...call, url };
  }
  const { body } = call;
  if (body && 'form' in body) {
    const form = new URLSearchParams(body.form);
    form.set(parameter.slice(1), text);
    return { ...call, body: { form } };
  }
  const json = body?.json;
  if (!isRecord(json) && !Array.isArray(json)) return call;
  const isNumber = typeof getAt(json, parameter) === 'number' && Number.isSafeInteger(Number(value));
  return { ...call, body: { json: setAt(json, parameter, isNumber ? Number(value) : value) } };
}

/**
 * Returns headers without those that have no value.
 *
 * @throws PollError `invalid_config` if a setting contains a character that cannot be sent
 */
export function headersOf(templates: Readonly<Record<string, PollTemplate>>, values: Values): Headers {
  const headers = new Headers();
  for (const [name, template] of Object.entries(templates)) {
    const value = fill(template, values);
    const field = /\{\{(\/[^{}]+)\}\}/.exec(template)?.[1] ?? '';
    if (value !== undefined) setHeader(headers, name, value, field);
  }
  return headers;
}

/** Returns the encoded body and its content type. */
export function encodeBody({ body }: PollCall): { type: string; text: string } | undefined {
  if (!body) return undefined;
  return 'form' in body
    ? { type: 'application/x-www-form-urlencoded', text: body.form.toString() }
    : { type: 'application/json', text: JSON.stringify(body.json) };
}
