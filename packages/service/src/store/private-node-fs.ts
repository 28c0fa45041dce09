import { mkdirSync } from 'node:fs';
import { NodeFS } from '@electric-sql/pglite/nodefs';

/**
 * PGlite's file system on disk, with files that only their owner can read. Inside PGlite the umask
 * is 0, so it requests modes 0666 and 0777 and relies on the umask of the process.
 */
export class PrivateNodeFS extends NodeFS {
  constructor(folder: string) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    super(folder);
  }

  override async init(...args: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts: options } = await super.init(...args);
    return {
      emscriptenOpts: { ...options, preRun: [({ NODEFS }) => keepModesPrivate(NODEFS), ...(options.preRun ?? [])] },
    };
  }
}

/**
 * Removes group and other permissions from every mode that NODEFS sets.
 * @throws Error when a release of PGlite sets modes through other functions
 */
function keepModesPrivate(nodeFs: object): void {
  wrap(nodeFs, 'node_ops', 'mknod', ([parent, name, mode, device]) => [parent, name, ownersOnly(mode), device]);
  for (const operations of ['node_ops', 'stream_ops']) {
    wrap(nodeFs, operations, 'setattr', ([file, attributes]) => [file, withOwnersMode(attributes)]);
  }
}

function wrap(nodeFs: object, operations: string, name: string, change: (args: unknown[]) => unknown[]): void {
  const group: unknown = Reflect.get(nodeFs, operations);
  const original: unknown = isObject(group) ? Reflect.get(group, name) : undefined;
  if (!isObject(group) || typeof original !== 'function') {
    throw new Error(`PGlite has no NODEFS.${operations}.${name}, so other users could read its files.`);
  }
  Reflect.set(group, name, (...args: unknown[]): unknown => Reflect.apply(original, group, change(args)));
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const ownersOnly = (mode: unknown): unknown => (typeof mode === 'number' ? mode & ~0o077 : mode);
const withOwnersMode = (attributes: unknown): unknown =>
  isObject(attributes) && 'mode' in attributes ? { ...attributes, mode: ownersOnly(attributes.mode) } : attributes;
