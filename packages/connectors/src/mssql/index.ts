import { text, texts } from '../_shared/read.js';
import { createSqlInput, createSqlOutput } from '../_shared/sql/connector.js';
import { openMssql } from './client.js';
import { readInputTarget, readOutputTarget } from './config.js';
import { mssqlInputDialect, mssqlOutputDialect } from './dialect.js';

export const mssqlInput = createSqlInput({
  dialect: mssqlInputDialect,
  readTarget: readInputTarget,
  open: openMssql,
  schemas: ({ settings }) => ({ names: texts(settings, 'schemas'), field: '/settings/schemas' }),
});

export const mssqlOutput = createSqlOutput({
  dialect: mssqlOutputDialect,
  readTarget: readOutputTarget,
  open: openMssql,
  schema: ({ settings }) => text(settings, 'schema') ?? 'dbo',
});
