import { gzipSync } from 'node:zlib';
import type { Rejection } from '@connector-frame/engine/connector-api';
import { rowsOf, type Encoding } from './encoding.js';
import { columnsOf, declaredColumn, type Cell, type Column } from './parquet-columns.js';
import { parseMessage } from './parquet-message.js';

/**
 * Creates an encoding for Parquet, compressed per page.
 * @param schema a Parquet message; if absent, the columns of each object are inferred from its
 * records
 * @throws ConnectorError `invalid_config`, permanent
 */
export function createParquetEncoding(gzip: boolean, schema?: string): Encoding {
  const declared = schema === undefined ? undefined : parseMessage(schema).map(declaredColumn);
  return {
    extension: '.parquet',
    contentType: 'application/vnd.apache.parquet',
    maxBytes: 16 * 1024 * 1024,
    async encode(batch) {
      const { rows, rejected } = rowsOf(batch);
      const columns = declared ?? columnsOf(rows.map(({ record }) => record));
      const data = columns.map((): Cell[] => []);
      for (const { index, record } of rows) {
        const cells = columns.map((column) => column.cell(record));
        const missing = cells.indexOf(undefined);
        if (missing >= 0) rejected.push(missingValue(index, columns[missing]));
        else for (const [at, cell] of cells.entries()) data[at]?.push(cell ?? null);
      }
      const body = data[0]?.length ? await write(columns, data, gzip) : undefined;
      return { body, rejected };
    },
  };
}

const missingValue = (index: number, column: Column | undefined): Rejection => ({
  index,
  reason: `no value for the required column ${column?.element.name ?? ''}`,
});

async function write(columns: readonly Column[], data: readonly Cell[][], gzip: boolean): Promise<Uint8Array> {
  const { parquetWriteBuffer } = await import('hyparquet-writer');
  const buffer = parquetWriteBuffer({
    schema: [{ name: 'root', num_children: columns.length }, ...columns.map(({ element }) => element)],
    columnData: columns.map(({ element: { name } }, index) => ({ name, data: data[index] ?? [] })),
    codec: gzip ? 'GZIP' : 'UNCOMPRESSED',
    compressors: { GZIP: (bytes) => gzipSync(bytes) },
    createdBy: 'connector-frame',
  });
  return new Uint8Array(buffer);
}
