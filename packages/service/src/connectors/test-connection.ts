import type { ConnectorConfig, ConnectorTypeData } from '@connector-frame/catalog/types';
import type { AwsIdentity, Connectors } from '@connector-frame/connectors';
import type { GrantedTokens, ReplaceableSecrets } from '@connector-frame/engine/connector-api';
import type { Egress } from '@connector-frame/engine/egress';
import { ApiError } from '../api-error.js';
import type { Metrics } from '../metrics.js';
import type { LookupsOf } from './lookups.js';

/** Timeout of a connection test, in milliseconds. */
const TIME_LIMIT = 15_000;

export interface TestResult {
  message: 'success';
  summary?: string;
  /** Milliseconds. */
  duration_ms: number;
}

export interface ConnectionTests {
  /** Returns whether a type has a connection test. */
  supports(type: ConnectorTypeData): boolean;
  /**
   * Connects with a validated configuration whose secrets are in plain text.
   * @param call `secrets`: the stored ones, if the configuration has their values
   * @throws ApiError 400 `no_test`, `test_failed` or `egress_refused`
   */
  run(
    type: ConnectorTypeData,
    config: ConnectorConfig,
    call: { organizationId: string; signal: AbortSignal; secrets?: ReplaceableSecrets; tokens?: GrantedTokens },
  ): Promise<TestResult>;
}

export interface ConnectionTestsOptions {
  connectors: Connectors;
  egress: Egress;
  lookupsOf: LookupsOf;
  /** The service's own identity at AWS. Absent: it has none. */
  aws?: Pick<AwsIdentity, 'of'> | undefined;
  metrics: Metrics;
}

export function createConnectionTests({
  connectors,
  egress,
  lookupsOf,
  aws,
  metrics,
}: ConnectionTestsOptions): ConnectionTests {
  return {
    supports: (type) => connectors(type).testConnection !== undefined,

    async run(type, config, { organizationId, signal, secrets, tokens }) {
      const tester = connectors(type).testConnection;
      if (!tester) throw new ApiError(400, 'no_test', "Connectors of this type can't be tested.");
      const began = performance.now();
      const outcome = await tester(config, {
        ...lookupsOf(organizationId),
        ...(secrets && { secrets }),
        ...(tokens && { tokens }),
        ...(aws && { aws: aws.of(organizationId) }),
        egress,
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIME_LIMIT)]),
      });
      metrics.connectionTested(type.type_id, outcome.ok ? 'success' : outcome.reason);
      if (outcome.ok) {
        const summary = outcome.summary === undefined ? {} : { summary: outcome.summary };
        return { message: 'success', ...summary, duration_ms: Math.round(performance.now() - began) };
      }
      const { reason, message, hint, issues } = outcome;
      throw new ApiError(400, reason === 'egress_refused' ? 'egress_refused' : 'test_failed', message, {
        details: { reason, ...(hint === undefined ? {} : { hint }), ...(issues ? { issues } : {}) },
      });
    },
  };
}
