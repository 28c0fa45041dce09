import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, expectTypeOf, test } from 'vitest';
import * as connect from '@connector-frame/core/connect';
import type {
  Appearance,
  BuildDevNullPipelineOptions,
  BuiltPipeline,
  CleanupPolicy,
  ComponentKind,
  ConnectorFrame,
  ConfigMetaOverrides,
  ConnectorFrameOptions,
  DeleteIntegrationOptions,
  DiscriminatorMetaOverride,
  FieldMetaOverride,
  FindIntegrationPipelineOptions,
  FrameMessage,
  HostMessage,
  ResolvedIntegration,
  ServiceRequest,
  SetIntegrationEnabledOptions,
  ToggleIntegrationOptions,
} from '@connector-frame/core/connect';
import * as options from '@connector-frame/core/options';
import * as preload from '@connector-frame/core/preload';
import * as protocol from '@connector-frame/core/protocol';
import * as testing from '@connector-frame/core/testing';
import { bundle } from '../support/bundle.js';

test('every entry point can be imported without a document and has the documented exports', () => {
  expect('document' in globalThis).toBe(false);
  expect(Object.keys(connect).sort()).toEqual([
    'CLEANUP_FULL',
    'CLEANUP_KEEP_OUTPUT',
    'CLEANUP_PIPELINE_ONLY',
    'ConnectorFrameError',
    'PROTOCOL_SOURCE',
    'PROTOCOL_VERSION',
    'buildDevNullPipeline',
    'createConnectorFrame',
    'deleteIntegration',
    'disableIntegration',
    'enableIntegration',
    'findIntegrationPipeline',
    'setIntegrationEnabled',
  ]);
  expect(Object.keys(options).sort()).toEqual([
    'attributeOf',
    'callbackOptions',
    'formOptions',
    'frameOptions',
    'text',
  ]);
  expect(Object.keys(preload)).toEqual(['preloadConnectorFrame']);
  expect(Object.keys(protocol).sort()).toEqual([
    'PROTOCOL_SOURCE',
    'PROTOCOL_VERSION',
    'isFrameMessage',
    'parseHostMessage',
    'sendToFrame',
  ]);
  expect(Object.keys(testing).sort()).toEqual(['driveFakeFrame', 'fakeFrameHtml', 'serveFakeFrame']);
});

const budgets: { name: string; code: string; most: number }[] = [
  {
    name: 'createConnectorFrame',
    code: `export { createConnectorFrame } from '@connector-frame/core/connect'`,
    most: 2_400,
  },
  { name: 'all of /connect', code: `export * from '@connector-frame/core/connect'`, most: 4_000 },
];

test.each(budgets)('$name is at most $most bytes', async ({ code, most }) => {
  const size = gzipSync(await bundle(code, { minify: true }), { level: 9 }).length;
  expect(size).toBeLessThanOrEqual(most);
});

test('types require options that belong together', () => {
  interface Least {
    container: string;
    kind: 'input';
    typeId: string;
  }
  expectTypeOf<Least & { sessionToken: string; organizationId: string }>().toExtend<ConnectorFrameOptions>();
  expectTypeOf<Least & { fetchSession: () => Promise<{ sessionToken: string }> }>().toExtend<ConnectorFrameOptions>();
  expectTypeOf<Least>().not.toExtend<ConnectorFrameOptions>();
  expectTypeOf<Least & { sessionToken: string }>().not.toExtend<ConnectorFrameOptions>();
  expectTypeOf<ConnectorFrame>().toEqualTypeOf<{ destroy(): void }>();
});

test('exports the types named in the specification', () => {
  expectTypeOf<ComponentKind>().toEqualTypeOf<'input' | 'output' | 'enrichment'>();
  expectTypeOf<Appearance>().toHaveProperty('colorPrimary');
  expectTypeOf<BuiltPipeline>().toHaveProperty('pipelineId');
  expectTypeOf<ResolvedIntegration>().toHaveProperty('inputId');
  expectTypeOf<{ output: false }>().toExtend<CleanupPolicy>();
  expectTypeOf<(path: string, init?: RequestInit) => Promise<string>>().toExtend<ServiceRequest>();
  expectTypeOf<(FrameMessage | HostMessage)['source']>().toEqualTypeOf<'monad-embed'>();
  expectTypeOf<NonNullable<ConfigMetaOverrides['settings']>[string]>().toEqualTypeOf<FieldMetaOverride>();
  expectTypeOf<FieldMetaOverride['discriminator']>().toEqualTypeOf<DiscriminatorMetaOverride | undefined>();
});

test('exports the names that the page for developers of the public client lists', () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const [, same = ''] = read('docs/guides/public-client.md').split(/^## What .*$/m);
  const rows = same.split('\n').filter((row) => /^\| (Mounting|Messages|Helpers|Constants|Types)/.test(row));
  const names = rows.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map(([, name = '']) => name));
  const source = read('packages/core/src/connect.ts');
  expect(names.length).toBeGreaterThan(25);
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(source) && name !== 'pollAttempts')).toEqual([]);
});

test('exports the parameters of every helper as a type', () => {
  expectTypeOf(connect.buildDevNullPipeline).parameter(0).toEqualTypeOf<BuildDevNullPipelineOptions>();
  expectTypeOf(connect.findIntegrationPipeline).parameter(0).toEqualTypeOf<FindIntegrationPipelineOptions>();
  expectTypeOf(connect.setIntegrationEnabled).parameter(0).toEqualTypeOf<SetIntegrationEnabledOptions>();
  expectTypeOf(connect.enableIntegration).parameter(0).toEqualTypeOf<ToggleIntegrationOptions>();
  expectTypeOf(connect.deleteIntegration).parameter(0).toEqualTypeOf<DeleteIntegrationOptions>();
  expectTypeOf<BuildDevNullPipelineOptions['pollAttempts']>().toEqualTypeOf<number | undefined>();
});
