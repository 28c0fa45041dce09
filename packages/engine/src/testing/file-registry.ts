import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createMemoryRegistry, type RegisteredStream, type StreamRegistry } from '../bus/jetstream/registry.js';

/**
 * Returns a registry in a file, for processes that are killed. One process may use it at a time, as
 * with the embedded bus.
 */
export function createFileRegistry(path: string): StreamRegistry {
  const registry = createMemoryRegistry(load(path));
  const save = async (): Promise<void> => {
    const streams: Record<string, RegisteredStream | undefined> = {};
    for (const name of await registry.list()) streams[name] = await registry.read(name);
    writeFileSync(`${path}.new`, JSON.stringify(streams));
    renameSync(`${path}.new`, path);
  };
  return {
    ...registry,
    async declare(...declaration) {
      const stream = await registry.declare(...declaration);
      await save();
      return stream;
    },
    async savePosition(...position) {
      await registry.savePosition(...position);
      await save();
    },
    async saveLost(...lost) {
      await registry.saveLost(...lost);
      await save();
    },
    async remove(name) {
      await registry.remove(name);
      await save();
    },
  };
}

function load(path: string): Map<string, RegisteredStream> {
  try {
    const streams: Record<string, RegisteredStream> = JSON.parse(readFileSync(path, 'utf8'));
    return new Map(Object.entries(streams));
  } catch {
    return new Map();
  }
}
