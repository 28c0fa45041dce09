import kafkajs, { type CompressionTypes } from 'kafkajs';
import { ConnectorError, isRecord } from '@connector-frame/engine/connector-api';
import { at, text } from '../_shared/read.js';
import { hasZstd } from './compression/codecs.js';
import type { UnitOptions } from './units.js';

export interface OutputSettings {
  topic: string;
  /** -1: all in-sync replicas. */
  acks: -1 | 0 | 1;
  compression: CompressionTypes;
  retries: number;
  units: UnitOptions;
}

const { CompressionTypes: types } = kafkajs;
const compressions: Readonly<Record<string, CompressionTypes>> = {
  gzip: types.GZIP,
  snappy: types.Snappy,
  lz4: types.LZ4,
  zstd: types.ZSTD,
};

/** @throws ConnectorError `invalid_config`: this version of Node.js lacks the compression */
export function readOutputSettings(settings: Record<string, unknown>): OutputSettings {
  const compression = text(settings, 'compression_type') ?? 'none';
  if (compression === 'zstd' && !hasZstd) {
    const message = 'Compression with Zstandard needs Node.js 22.15 or later here. Choose another one.';
    throw new ConnectorError('invalid_config', message, 'permanent');
  }
  const acks = text(settings, 'acks');
  const headers = at(settings, 'headers');
  return {
    topic: text(settings, 'topic') ?? '',
    acks: acks === '0' ? 0 : acks === '1' ? 1 : -1,
    compression: compressions[compression] ?? types.None,
    retries: Number(at(settings, 'retries') ?? 3),
    units: {
      arrays: text(settings, 'payload_format') === 'json_array',
      keyField: text(settings, 'message_key_field'),
      headers: Object.fromEntries(
        (Array.isArray(headers) ? headers : []).flatMap((each): [string, string][] => {
          const name = isRecord(each) ? text(each, 'key') : undefined;
          return name === undefined ? [] : [[name, text(each, 'value') ?? '']];
        }),
      ),
    },
  };
}
