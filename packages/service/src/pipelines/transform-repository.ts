import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isRecord } from '@connector-frame/engine';
import type { StoredTransform } from '../store/tables.js';

/** A transform as a file: what `transforms/*.yaml` contain, and what export and import exchange. */
export interface TransformFile {
  name: string;
  description?: string | undefined;
  /** `type_id` of the inputs whose records it is for. */
  inputs?: readonly string[] | undefined;
  tags?: readonly string[] | undefined;
  author?: string | undefined;
  contributors?: readonly string[] | undefined;
  config: StoredTransform;
}

/** A transform of the repository. Its id is the name of its file. */
export interface RepositoryTransform extends TransformFile {
  id: string;
  description: string;
  inputs: readonly string[];
  tags: readonly string[];
}

export interface TransformRepository {
  /** In the order of their ids. */
  readonly transforms: readonly RepositoryTransform[];
  /** Changes whenever a transform changes. */
  readonly hash: string;
  get(id: string): RepositoryTransform | undefined;
}

const folder = fileURLToPath(new URL('../../transforms/', import.meta.url));

/**
 * Reads the transforms that the package ships, on the first call.
 * @throws Error naming a file that is not valid
 */
export function loadRepository(): Promise<TransformRepository> {
  return (loaded ??= readRepository());
}

let loaded: Promise<TransformRepository> | undefined;

async function readRepository(): Promise<TransformRepository> {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .sort();
  const hash = createHash('sha256');
  const transforms: RepositoryTransform[] = [];
  for (const name of names) {
    const text = readFileSync(`${folder}${name}`, 'utf8');
    hash.update(`${name}\n${text}`);
    const file = await readTransformFile(text);
    if ('problem' in file) throw new Error(`${name}: ${file.problem}`);
    const { description = '', inputs = [], tags = [] } = file;
    transforms.push({ ...file, id: name.slice(0, -'.yaml'.length), description, inputs, tags });
  }
  const byId = new Map(transforms.map((transform) => [transform.id, transform]));
  return { transforms, hash: hash.digest('hex'), get: (id) => byId.get(id) };
}

/** Formats a transform as YAML. */
export async function formatTransform(file: TransformFile): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(withoutAbsent(file), { aliasDuplicateObjects: false });
}

/**
 * Reads a transform from YAML or JSON. Checks its shape, but not its operations.
 * @returns the transform, or what is wrong with the text
 */
export async function readTransformFile(text: string): Promise<TransformFile | { problem: string }> {
  const { parseDocument } = await import('yaml');
  // Tags of other languages' types have no meaning here, and are warnings.
  const document = parseDocument(text, { schema: 'core', merge: false, resolveKnownTags: false });
  const [error] = [...document.errors, ...document.warnings];
  if (error) return { problem: `It is no YAML: ${error.code} in line ${error.linePos?.[0].line ?? 1}.` };
  let value: unknown;
  try {
    // With aliases, a short text becomes a huge value.
    value = document.toJS({ maxAliasCount: 0 });
  } catch {
    return { problem: 'Aliases are not supported.' };
  }
  if (!isRecord(value)) return { problem: 'It is no object with a name and a config.' };
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(isValid, key));
  if (unknown !== undefined) return { problem: 'It has a field that transforms do not have.' };
  const wrong = Object.entries(isValid).find(([key, check]) => !check(value[key]));
  return wrong ? { problem: `${wrong[0]} is missing or not valid.` } : toFile(value);
}

const isText = (most: number) => (value: unknown) =>
  typeof value === 'string' && value.trim() !== '' && value.length <= most;
const isTexts = (value: unknown) => Array.isArray(value) && value.length <= 50 && value.every(isText(200));
const optional = (check: (value: unknown) => boolean) => (value: unknown) => value === undefined || check(value);

/** Checks of the fields of a file, by name. */
const isValid: Record<keyof TransformFile, (value: unknown) => boolean> = {
  name: isText(200),
  description: optional((value) => typeof value === 'string' && value.length <= 2_000),
  inputs: optional(isTexts),
  tags: optional(isTexts),
  author: optional(isText(200)),
  contributors: optional(isTexts),
  config: (value) => isRecord(value) && Array.isArray(value['operations']),
};

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `isValid` has checked each field
const toFile = (value: object): TransformFile => value as TransformFile;

const withoutAbsent = <T extends object>(value: T): T =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- absent fields are optional
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
