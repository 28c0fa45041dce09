import type { DeliveryDefinition } from '@connector-frame/catalog/types';
import { getAt, withDefaults } from '@connector-frame/catalog/validate';
import type { Batch, CreateOutput, Output } from '@connector-frame/engine/connector-api';
import { statusFailure } from '../output/failures.js';
import { createRateLimiter } from '../output/rate-limiter.js';
import { splitBySize, writeParts, type PartResult } from '../output/split-batch.js';
import { compressBody, createBodyEncoder } from './body.js';
import { DeliveryClient } from './client.js';
import type { Scope } from './placeholders.js';
import { matches, outcomeOf, parseResponse } from './responses.js';
import { compileTemplate, fillText } from './template.js';
import { variantOf } from './variant.js';

/** Bytes of a request that are left for what surrounds the records. */
const RESERVE = 2_000;

/** Creates outputs that deliver as a definition says. */
export function createDeliveryOutput(common: DeliveryDefinition): CreateOutput {
  return (given, { type, egress, clock, aws }): Output => {
    const config = withDefaults(type.config, given);
    const { settings } = config;
    const definition = variantOf(common, config);
    const client = new DeliveryClient({ type, definition, config, egress, clock, aws });
    const { limits, responses = {}, path, query, headers, method, ordered } = definition;
    const encoder = createBodyEncoder(definition.body, settings);
    const maxBytes = Math.max(limits.bytes - RESERVE, 1);
    const chosen = limits.records_from === undefined ? 0 : Number(getAt(config, limits.records_from) ?? 0);
    const maxRecords = chosen > 0 ? Math.min(limits.records, chosen) : limits.records;
    const takeTurn = createRateLimiter(limits.interval_ms ?? 0, clock);
    const compresses = isCompressed(definition, config);
    const { product } = client.subject;

    const scopeOf = (batch: Batch, index: number, now: number): Scope => ({
      settings,
      now,
      record: { line: batch.lines[index] ?? '{}', value: () => batch.records[index] ?? {}, id: batch.recordId(index) },
    });

    const prepared = new Set<string>();
    /** Creates what the records of a group need. */
    async function prepare(scope: Scope, signal: AbortSignal): Promise<void> {
      const { group = '' } = scope;
      if (!definition.prepare || prepared.has(group)) return;
      for (const { body = {}, text, accepted, only_if: only, ...request } of definition.prepare) {
        if (only !== undefined && getAt(config, only) !== true) continue;
        const content =
          text === undefined
            ? { body: compileTemplate(body, settings)(scope) ?? '{}', contentType: 'application/json' }
            : { body: fillText(text, scope) ?? '', contentType: 'text/plain' };
        const response = await client.send({ ...request, ...content }, scope, signal);
        const parsed = parseResponse(response);
        const isDone = response.status < 300 || (accepted !== undefined && matches(accepted, parsed));
        const outcome = isDone ? {} : outcomeOf(responses, parsed, { indexes: [], product, now: clock.now() });
        if ('partRejection' in outcome) throw statusFailure(response, product, clock.now());
      }
      prepared.add(group);
    }

    return {
      batching: {
        records: maxRecords,
        bytes: maxBytes,
        waitMs: limits.records === 1 ? 0 : 1_000,
        waitFrom: 'write',
      },
      ...(!ordered && { ordering: 'none' as const }),
      ...(limits.concurrency !== undefined && { maxConcurrency: limits.concurrency }),
      write: async (batch, signal) => {
        const now = batch.at ?? clock.now();
        const texts = batch.lines.map((_line, index) => encoder.record(scopeOf(batch, index, now)));
        const sizes = texts.map((text) => Buffer.byteLength(text) + 1);
        const isTooLarge = (index: number): boolean => (sizes[index] ?? 0) - 1 > (limits.record_bytes ?? Infinity);
        const groupOf = (index: number): string =>
          definition.group === undefined ? '' : (fillText(definition.group, scopeOf(batch, index, now)) ?? '');
        const groups = groupIndexes(batch.lines.length, groupOf);
        const parts = [...groups.values()].flatMap((members) =>
          splitBySize(
            members.map((index) => sizes[index] ?? 0),
            maxRecords,
            maxBytes,
          ).map((part) => part.map((position) => members[position] ?? 0)),
        );
        return writeParts(parts, async (all): Promise<PartResult> => {
          const indexes = all.filter((index) => !isTooLarge(index));
          const rejected = all.filter(isTooLarge).map((index) => ({
            index,
            reason: `The record exceeds the maximum size of a record in ${product}.`,
          }));
          const [only] = indexes;
          if (only === undefined) return { rejected };
          const part = batch.pick(indexes);
          const scope = limits.records === 1 ? scopeOf(batch, only, now) : { settings, now };
          const sent: Scope = { ...scope, batch: part.id, group: groupOf(only) };
          const plain = encoder.body(
            indexes.map((index) => texts[index] ?? ''),
            sent,
          );
          const body = compresses ? await compressBody(plain) : { body: plain };
          await prepare(sent, signal);
          await takeTurn(signal);
          const request = { path, ...(query && { query }), ...(headers && { headers }), ...(method && { method }) };
          const response = await client.send({ ...request, ...body, contentType: encoder.contentType }, sent, signal);
          const parsed = parseResponse(response, responses.partial?.format);
          return merge(outcomeOf(responses, parsed, { indexes, product, now: clock.now() }), rejected, indexes);
        });
      },
    };
  };
}

function groupIndexes(count: number, groupOf: (index: number) => string): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  for (let index = 0; index < count; index += 1) {
    const group = groupOf(index);
    const members = groups.get(group);
    if (members) members.push(index);
    else groups.set(group, [index]);
  }
  return groups;
}

/** Adds records that were not sent to the outcome of a request. */
function merge(
  outcome: PartResult,
  rejected: readonly { index: number; reason: string }[],
  sent: readonly number[],
): PartResult {
  if (rejected.length === 0) return outcome;
  if ('partRejection' in outcome) return { rejected, refused: [{ indexes: sent, reason: outcome.partRejection }] };
  return { ...outcome, rejected: [...(outcome.rejected ?? []), ...rejected] };
}

function isCompressed({ compression }: DeliveryDefinition, config: { settings: object }): boolean {
  if (compression === undefined || compression === 'gzip') return compression === 'gzip';
  const value: unknown = getAt(config, compression.field);
  return value !== undefined && value !== 'none';
}
