import type { Batch, NewLetter } from '@connector-frame/engine';
import { and, asc, eq, lte, sql } from 'drizzle-orm';
import { decodeBatch } from './bus/batch-body.js';
import type { Queries } from './database.js';
import {
  busBatches as batches,
  busConsumers as consumers,
  busStreams as streams,
  engineLetterCounts as letterCounts,
  engineLetters as letters,
} from './tables.js';

/** The dead letters of one node in the database. */
export interface LetterNode {
  pipelineId: string;
  nodeId: string;
}

/** Buffers and dead letters that a shared engine has left in the database, for a single engine. */
export interface SharedLeftovers {
  /** Returns the streams that have batches, with the names of their consumers. */
  streams(): Promise<{ id: number; name: string; consumers: string[] }[]>;
  /** Returns the oldest batches of a stream. */
  batches(streamId: number, limit: number): Promise<{ sequence: number; batch: Batch }[]>;
  /** Deletes the batches up to a sequence. */
  deleteBatches(streamId: number, upTo: number): Promise<void>;
  removeStream(streamId: number): Promise<void>;
  letterNodes(): Promise<LetterNode[]>;
  /** Returns the oldest letters of a node. */
  letters(node: LetterNode, limit: number): Promise<(NewLetter & { sequence: number })[]>;
  /** Deletes the letters up to a sequence. */
  deleteLetters(node: LetterNode, upTo: number): Promise<void>;
  removeLetters(node: LetterNode): Promise<void>;
}

export function createSharedLeftovers(queries: Queries): SharedLeftovers {
  return {
    async streams() {
      const names = sql<string[]>`array(select name from ${consumers} where stream_id = ${streams}.id order by name)`;
      return queries
        .select({ id: streams.id, name: streams.name, consumers: names })
        .from(streams)
        .where(sql`exists (select from ${batches} where stream_id = ${streams}.id)`)
        .orderBy(asc(streams.name));
    },

    async batches(streamId, limit) {
      const rows = await queries
        .select()
        .from(batches)
        .where(eq(batches.streamId, streamId))
        .orderBy(asc(batches.sequence))
        .limit(limit);
      return rows.map(({ sequence, id, body, recordBytes }) => ({
        sequence,
        batch: decodeBatch({ id, body: Buffer.from(body), recordBytes }),
      }));
    },

    async deleteBatches(streamId, upTo) {
      await queries.delete(batches).where(and(eq(batches.streamId, streamId), lte(batches.sequence, upTo)));
    },

    async removeStream(streamId) {
      await queries.delete(streams).where(eq(streams.id, streamId));
    },

    letterNodes: async () =>
      queries.select({ pipelineId: letterCounts.pipelineId, nodeId: letterCounts.nodeId }).from(letterCounts),

    async letters(node, limit) {
      const rows = await queries
        .select()
        .from(letters)
        .where(lettersOf(node))
        .orderBy(asc(letters.sequence))
        .limit(limit);
      return rows.map(({ sequence, storedAt, reason, recordId, line }) => ({
        sequence,
        at: storedAt,
        reason,
        recordId,
        line: Buffer.from(line).toString('utf8'),
      }));
    },

    async deleteLetters(node, upTo) {
      await queries.delete(letters).where(and(lettersOf(node), lte(letters.sequence, upTo)));
    },

    async removeLetters({ pipelineId, nodeId }) {
      await queries
        .delete(letterCounts)
        .where(and(eq(letterCounts.pipelineId, pipelineId), eq(letterCounts.nodeId, nodeId)));
    },
  };
}

const lettersOf = ({ pipelineId, nodeId }: LetterNode) =>
  and(eq(letters.pipelineId, pipelineId), eq(letters.nodeId, nodeId));
