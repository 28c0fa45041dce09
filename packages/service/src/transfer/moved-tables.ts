/**
 * What an export does with the rows of a table. A test compares this list with `tables.ts`, so that
 * a new table needs a decision.
 */
export const MOVED_TABLES = {
  alert_events: 'move',
  alert_feeds: 'move',
  alert_rules: 'move',
  alerts: 'move',
  api_keys: 'move',
  audit_logs: 'move',
  billing_accounts: 'move',
  billing_members: 'move',
  billing_products: 'move',
  billing_role_users: 'move',
  billing_roles: 'move',
  billing_subscriptions: 'move',
  /** A shared engine continues with its buffers; a single engine takes them over. */
  bus_batch_ids: 'move',
  bus_batches: 'move',
  bus_consumers: 'move',
  bus_streams: 'move',
  connectors: 'move',
  consents: 'move',
  data_keys: 'move',
  edge_schema_events: 'move',
  edge_schemas: 'move',
  engine_counts: 'move',
  /** Which processes run which pipelines. */
  engine_leases: 'leave',
  engine_letter_counts: 'move',
  engine_letters: 'move',
  engine_logs: 'move',
  engine_members: 'leave',
  /** Of a few seconds. */
  engine_requests: 'leave',
  /** Cursors and reports. The import renews the engine's lease and the name of the database. */
  engine_state: 'move',
  feature_overrides: 'move',
  /** A port must not get to another input too soon: its former senders may still use it. */
  freed_ports: 'move',
  /** A repeated request is executed again if its first one was before the move. */
  idempotency_keys: 'leave',
  invitations: 'move',
  /** An installation with buffers in JetStream is not exported. */
  jetstream_positions: 'leave',
  jetstream_streams: 'leave',
  key_value_entries: 'move',
  key_value_tables: 'move',
  local_credentials: 'move',
  memberships: 'move',
  organization_secrets: 'move',
  organizations: 'move',
  pipeline_components: 'move',
  pipeline_counts: 'move',
  pipelines: 'move',
  quotas: 'move',
  /** Counters of a few minutes. */
  rate_limits: 'leave',
  /** Their entries are still to be deleted. */
  removed_key_value_tables: 'move',
  resource_shares: 'move',
  roles: 'move',
  /** An assertion that was used must stay unusable. */
  saml_assertions: 'move',
  secrets: 'move',
  share_policies: 'move',
  /** Links in mails that are still valid. */
  sign_in_tickets: 'move',
  sign_ins: 'move',
  sso_connections: 'move',
  storage_type_costs: 'move',
  transforms: 'move',
  usage_counts: 'move',
  usage_days: 'move',
  usage_events: 'move',
  usage_series: 'move',
  /** Numbers of the journals that were added to the database: the others are in the engine's folder. */
  usage_writers: 'move',
  user_identities: 'move',
  users: 'move',
} as const satisfies Readonly<Record<string, 'move' | 'leave'>>;

/** Returns whether the rows of a table are moved. Tables of other programs are not. */
export const isMoved = (table: string): boolean =>
  Object.entries(MOVED_TABLES).some(([name, decision]) => name === table && decision === 'move');
