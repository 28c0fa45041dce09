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

/** Returns compose.yaml with its variables replaced as Compose does; see `filledFile`. */
export const composeFile = (environment: Readonly<Record<string, string>>): ComposeFile =>
  filledFile('compose.yaml', environment) as ComposeFile;

/** Returns compose.workers.yaml in the same way. */
export const workersFile = (environment: Readonly<Record<string, string>>): WorkersFile =>
  filledFile('compose.workers.yaml', environment) as WorkersFile;

/** @param environment of the operator; variables without a default must be in it */
function filledFile(name: string, environment: Readonly<Record<string, string>>): unknown {
  const filled = (text: string): string =>
    text.replaceAll(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_all, variable: string, kind?: string, rest = '') => {
      const value = environment[variable];
      if (value !== undefined && value !== '') return value;
      if (kind !== '-') throw new Error(`${variable} is not set: ${rest}`);
      return rest;
    });
  // Compose replaces variables after it has parsed the file.
  const file = JSON.stringify(yamlOf(`${deploy}${name}`));
  return JSON.parse(file, (_key, value: unknown) => (typeof value === 'string' ? filled(value) : value));
}
