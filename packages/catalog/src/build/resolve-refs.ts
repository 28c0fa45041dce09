import { isPlain, own } from '../validate/objects.js';
import { getAt, joinPointer } from '../validate/pointer.js';
import type { Problem } from './problem.js';
import type { SourceFile, Sources } from './read-sources.js';

export interface Resolved {
  value: unknown;
  problems: Problem[];
  /** Every fragment entry that was used, as `aws#/region`. */
  used: Set<string>;
}

/**
 * Replaces each `{ "$ref": "aws#/region", ... }` in a type file with the entry `/region` of
 * `fragments/aws.json`. Properties beside `$ref` override those of the entry. Entries may refer to
 * other entries.
 */
export function resolveRefs(source: SourceFile, fragments: Sources['fragments']): Resolved {
  const problems: Problem[] = [];
  const used = new Set<string>();

  const entry = (ref: string): unknown => {
    const [name = '', path = ''] = ref.split('#');
    return path === '' ? undefined : getAt(fragments.get(name)?.value, path);
  };

  const resolve = (value: unknown, pointer: string, trail: readonly string[]): unknown => {
    if (Array.isArray(value)) return value.map((item, index) => resolve(item, joinPointer(pointer, index), trail));
    if (!isPlain(value)) return value;
    const { $ref: ref, ...rest } = value;
    const plain = Object.fromEntries(
      Object.entries(rest).map(([key, inner]) => [key, resolve(inner, joinPointer(pointer, key), trail)]),
    );
    if (!Object.hasOwn(value, '$ref')) return plain;
    const found = typeof ref === 'string' ? entry(ref) : undefined;
    if (typeof ref !== 'string' || !isPlain(found)) {
      const message = `$ref ${JSON.stringify(ref)} is not there: write it as "file#/entry", for an entry of fragments/file.json`;
      problems.push({ file: source.file, pointer, message });
      return plain;
    }
    if (trail.includes(ref)) {
      problems.push({ file: source.file, pointer, message: `$ref goes in a circle: ${[...trail, ref].join(' -> ')}` });
      return plain;
    }
    used.add(ref);
    const target = resolve(found, pointer, [...trail, ref]);
    return { ...(isPlain(target) ? target : {}), ...plain };
  };

  return { value: resolve(source.value, '', []), problems, used };
}

/** Reports fragment entries that no type uses. */
export const unusedFragments = (fragments: Sources['fragments'], used: ReadonlySet<string>): Problem[] =>
  [...fragments].flatMap(([name, { file, value }]) =>
    Object.keys(isPlain(value) ? value : {})
      .filter((key) => own(value, key) !== undefined && !used.has(`${name}#${joinPointer('', key)}`))
      .map((key) => ({ file, pointer: joinPointer('', key), message: 'no type uses this entry: delete it' })),
  );
