import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** Folder with the container image, the Compose file and the chart. */
export const deploy = fileURLToPath(new URL('../../../deploy/', import.meta.url));
export const chart = `${deploy}helm/connector-frame/`;

export const textOf = (file: string): string => readFileSync(file, 'utf8');

/** Reads YAML as Compose and Helm do, with merge keys. */
export const yamlOf = (file: string): unknown => parse(textOf(file), { merge: true });

/** The instructions of a Dockerfile, with the lines of each joined. */
export function instructionsOf(file: string): { name: string; words: string }[] {
  const lines = textOf(file)
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '');
  return [...lines.matchAll(/^([A-Z]+) (.+)$/gm)].map(([, name = '', words = '']) => ({ name, words }));
}

/** What the last stage of the Dockerfile says about running a container. */
export interface ImageSettings {
  nodeVersion: string;
  env: Record<string, string>;
  user: string;
  port: string;
  volume: string;
  entrypoint: string[];
  healthcheck: string[];
}

export function imageSettings(): ImageSettings {
  const all = instructionsOf(`${deploy}Dockerfile`);
  const last = all.slice(all.findLastIndex(({ name }) => name === 'FROM'));
  const wordsOf = (name: string): string => last.find((each) => each.name === name)?.words ?? '';
  const list = (words: string): string[] => JSON.parse(/\[.*\]$/.exec(words)?.[0] ?? '[]') as string[];
  return {
    nodeVersion: /^NODE_VERSION=(.*)$/.exec(all.find(({ name }) => name === 'ARG')?.words ?? '')?.[1] ?? '',
    env: Object.fromEntries(
      wordsOf('ENV')
        .split(' ')
        .map((pair) => pair.split('=')),
    ),
    user: wordsOf('USER'),
    port: wordsOf('EXPOSE'),
    volume: list(wordsOf('VOLUME'))[0] ?? '',
    entrypoint: list(wordsOf('ENTRYPOINT')),
    healthcheck: list(wordsOf('HEALTHCHECK')),
  };
}

export interface ComposeService {
  image: string;
  user?: string;
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  restart?: string;
  healthcheck?: object;
  ports?: string[];
  networks: string[];
  secrets?: string[];
  entrypoint?: string[];
  command?: string[];
  environment?: Record<string, string | number>;
  volumes?: (string | { type: string; target: string })[];
  deploy: { replicas?: number; resources: { limits: { cpus?: string; memory?: string; pids?: number } } };
}
export interface ComposeFile<Name extends string = 'proxy' | 'engine' | 'replica' | 'database'> {
  services: Record<Name, ComposeService>;
  networks: { data: { internal?: boolean }; front: { ipam: { config: { subnet: string }[] } } };
  secrets: Record<string, { file: string }>;
}

/** compose.workers.yaml. */
export type WorkersFile = ComposeFile<'proxy' | 'service' | 'worker' | 'database'>;

/** compose.workers.yaml with compose.nats.yaml. */
export type NatsFile = ComposeFile<'proxy' | 'service' | 'worker' | 'database' | 'nats'>;

/** Returns compose.yaml with its variables replaced as Compose does; see `filled`. */
export const composeFile = (environment: Readonly<Record<string, string>>): ComposeFile =>
  filled(rawFiles('compose.yaml'), environment) as ComposeFile;

/** Returns compose.workers.yaml in the same way. */
export const workersFile = (environment: Readonly<Record<string, string>>): WorkersFile =>
  filled(rawFiles('compose.workers.yaml'), environment) as WorkersFile;

/** Returns compose.workers.yaml with compose.nats.yaml in the same way. */
export const natsFile = (environment: Readonly<Record<string, string>>): NatsFile =>
  filled(rawFiles('compose.workers.yaml', 'compose.nats.yaml'), environment) as NatsFile;

/** Reads Compose files and merges them as Compose does: objects by key, lists one after the other. */
export const rawFiles = (...names: string[]): unknown => names.map((name) => yamlOf(`${deploy}${name}`)).reduce(merged);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function merged(base: unknown, over: unknown): unknown {
  if (Array.isArray(base) && Array.isArray(over)) return [...(base as unknown[]), ...(over as unknown[])];
  if (!isObject(base) || !isObject(over)) return over;
  const both = Object.entries(over).map(([key, value]): [string, unknown] => [
    key,
    key in base ? merged(base[key], value) : value,
  ]);
  return { ...base, ...Object.fromEntries(both) };
}

/**
 * Replaces variables, as Compose does after it has parsed a file.
 * @param environment of the operator; variables without a default must be in it
 */
function filled(file: unknown, environment: Readonly<Record<string, string>>): unknown {
  const replaced = (text: string): string =>
    text.replaceAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_all, variable: string, kind?: string, rest = '') => {
      const value = environment[variable];
      if (value !== undefined && value !== '') return value;
      if (kind !== '-') throw new Error(`${variable} is not set: ${rest}`);
      return rest;
    });
  return JSON.parse(JSON.stringify(file), (_key, value: unknown) =>
    typeof value === 'string' ? replaced(value) : value,
  );
}
