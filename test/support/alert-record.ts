/** A record of the input `monad-alerts`. */
export const alertRecord = {
  event: 'fired',
  id: '6a1cf2c5-3c7e-4a51-8a5e-0f5f0d8f4a10',
  name: 'Errors',
  description: 'Pipeline "Okta": 3 errors in the last 1m (alert above 0).',
  organization_id: 'o',
  rule_id: 'r',
  rule_type: 'threshold-alert',
  severity: 'high',
  resource: { resource_type: 'pipeline', resource_id: 'p' },
  status: { state: 'FIRING' },
  metadata: { pipeline_name: 'Okta', value: 3 },
  created_at: 1_893_456_000,
  fired_at: 1_893_456_000,
};

/** The same alert once it is resolved. */
export const resolvedRecord = {
  ...alertRecord,
  event: 'resolved',
  status: { state: 'RESOLVED', resolved_at: 1_893_456_180 },
};
