import type { ConnectionOptions } from 'node:tls';
import type { ConnectorCode, TesterConfig } from '@connector-frame/engine/connector-api';
import { at, text, texts } from '../_shared/read.js';
import { createSqlInput, createSqlOutput, type SqlTarget } from '../_shared/sql/connector.js';
import { openRedshift, type RedshiftDatabase } from './client.js';
import { redshiftInputDialect, redshiftOutputDialect } from './dialect.js';

function readTarget({ settings, secrets }: TesterConfig): SqlTarget<RedshiftDatabase> {
  const password = text(secrets, 'password') ?? '';
  return {
    database: {
      host: text(settings, 'host') ?? '',
      port: Number(at(settings, 'port') ?? 5439),
      database: text(settings, 'database') ?? '',
      user: text(settings, 'username') ?? '',
      password,
    },
    subject: {
      product: 'Redshift',
      hasPassword: password !== '',
      fields: {
        host: '/settings/host',
        user: '/settings/username',
        password: '/secrets/password',
        database: '/settings/database',
      },
    },
  };
}

/** @param tls authorities to trust instead of the public ones */
export const createRedshiftInput = (tls?: ConnectionOptions): ConnectorCode =>
  createSqlInput({
    dialect: redshiftInputDialect,
    readTarget,
    open: openRedshift(tls),
    schemas: ({ settings }) => ({ names: texts(settings, 'schemas'), field: '/settings/schemas' }),
  });

/** @param tls authorities to trust instead of the public ones */
export const createRedshiftOutput = (tls?: ConnectionOptions): ConnectorCode =>
  createSqlOutput({
    dialect: redshiftOutputDialect,
    readTarget,
    open: openRedshift(tls),
    schema: ({ settings }) => text(settings, 'schema') ?? 'public',
  });

export const redshiftInput = createRedshiftInput();
export const redshiftOutput = createRedshiftOutput();
