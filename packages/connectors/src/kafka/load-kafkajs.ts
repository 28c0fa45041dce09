import { createRequire } from 'node:module';
import type kafkajs from 'kafkajs';
import { installCodecs } from './compression/codecs.js';
import { stopIdlePolling } from './request-queue.js';

let loaded: typeof kafkajs | undefined;

/**
 * Loads kafkajs when the first client needs it, and applies our changes to it. Synchronous, so that an
 * abort can't come between a client's creation and its registration with its owner.
 */
export function loadKafkajs(): typeof kafkajs {
  if (loaded) return loaded;
  const load: (id: string) => typeof kafkajs = createRequire(import.meta.url);
  const client = load('kafkajs');
  installCodecs(client);
  stopIdlePolling();
  return (loaded = client);
}
