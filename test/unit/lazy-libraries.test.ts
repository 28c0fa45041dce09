import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const entry = pathToFileURL(`${root}packages/service/dist/index.js`).href;

/** Libraries that every service needs, or that the code of connectors uses where it can't wait. */
const early = [
  '@hono/node-server',
  '@hono/zod-openapi',
  '@msgpack/msgpack',
  '@opentelemetry/api',
  'aws4fetch',
  'croner',
  'csv-parse',
  'drizzle-orm',
  'fflate',
  'hono',
  'htmlparser2',
  'ipaddr.js',
  'jose',
  'otpauth',
  'pg',
  'pino',
  'prom-client',
  'protobufjs',
  'qrcode-generator',
  'rate-limiter-flexible',
  'zod',
];

function dependenciesOf(name: string): string[] {
  const manifest: { dependencies: object } = JSON.parse(readFileSync(`${root}packages/${name}/package.json`, 'utf8'));
  return Object.keys(manifest.dependencies).filter((each) => !each.startsWith('@connector-frame/'));
}

const dependencies = new Set(['connectors', 'service'].flatMap(dependenciesOf));
const lazy = [...dependencies].filter((each) => !early.includes(each));

/** Module hooks that reject an import of one of the libraries, naming the file that has it. */
const hooks = `
  let lazy;
  export const initialize = (names) => (lazy = names);
  export function resolve(specifier, context, next) {
    const name = lazy.find((each) => specifier === each || specifier.startsWith(each + '/'));
    if (name) throw new Error(context.parentURL + ' loads ' + name);
    return next(specifier, context);
  }`;

/** Loads a module in a separate process. Returns what went wrong. */
function load(address: string): string {
  const program = `
    import Module, { register } from 'node:module';
    const lazy = ${JSON.stringify(lazy)};
    register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)}, { data: lazy });
    await import(${JSON.stringify(address)});
    const required = Object.keys(Module._cache);
    const found = lazy.find((name) => required.some((file) => file.includes('/node_modules/' + name + '/')));
    if (found) throw new Error('a call of require() loads ' + found);
    process.exit();`;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: root,
    encoding: 'utf8',
  });
  return /Error: .*/.exec(stderr)?.[0] ?? stderr;
}

test('the service loads libraries of single connector types and of rare features on first use', () => {
  expect([...dependencies]).toEqual(expect.arrayContaining(early));
  expect(load(entry)).toBe('');
});

test('an early import is found', () => {
  const file = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`;
  expect(load(file("import 'mqtt';"))).toMatch(/^Error: data:.* loads mqtt$/);
  const required = `import { createRequire } from 'node:module'; createRequire(${JSON.stringify(entry)})('kafkajs');`;
  expect(load(file(required))).toBe('Error: a call of require() loads kafkajs');
});
