import { text } from '../_shared/read.js';
import { createSqlInput, createSqlOutput } from '../_shared/sql/connector.js';
import { openMysql } from './client.js';
import { readInputTarget, readOutputTarget } from './config.js';
import { mysqlInputDialect, mysqlOutputDialect } from './dialect.js';

export const mysqlInput = createSqlInput({
  dialect: mysqlInputDialect,
  readTarget: readInputTarget,
  open: openMysql,
  // A database is what other products call a schema.
  schemas: ({ settings }) => ({ names: [text(settings, 'database') ?? ''], field: '/settings/database' }),
});

export const mysqlOutput = createSqlOutput({
  dialect: mysqlOutputDialect,
  readTarget: readOutputTarget,
  open: openMysql,
  schema: ({ settings }) => text(settings, 'database') ?? '',
});
