/**
 * One export of two log records, captured from the OpenTelemetry SDK for JavaScript:
 * `@opentelemetry/exporter-logs-otlp-proto` and `-http` 0.223.1. It checks our parser against the
 * output of an independent implementation.
 */
export const exportedProtobuf = Buffer.from(
  'CuYCCiwKFgoMc2VydmljZS5uYW1lEgYKBHNob3AKEAoKaG9zdC5jb3VudBICGAMQABK1AgoRCghjaGVja291dBIFMS4yLjAS5gEJFQ1oUIewVh' +
    'gQERoFRVJST1IqFAoScGF5bWVudCByZWZ1c2VkIMO8Mg4KCG9yZGVyLmlkEgIYKjISCgVyYXRpbxIJIQAAAAAAAOA/MggKAm9rEgIQADIUCgR0' +
    'YWdzEgwqCgoDCgFhCgMKAWIyEAoDYmlnEgkY/////////w8yHgoGbmVzdGVkEhQyEgoQCgFhEgsyCQoHCgFiEgIYATIMCgNyYXcSBToDAQL/OA' +
    'BFAQAAAEoQW47/95gDgQPSabYzgT/GDFII7uGbfsPBsXRZAAqnhIewVhhiDG9yZGVyLmZhaWxlZBI3CQXUQcCHsFYYEAkqHzIdChIKB21lc3Nh' +
    'Z2USBwoFYSBtYXAKBwoBbhICGAE4AFkAntz7h7BWGA==',
  'base64',
);

export const exportedJson =
  '{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}},{"key":"host.count","value":{"intValue":3}}],"droppedAttributesCount":0},"scopeLogs":[{"scope":{"name":"checkout","version":"1.2.0"},"logRecords":[{"timeUnixNano":"1753783200123456789","observedTimeUnixNano":"1753783201000000000","severityNumber":17,"severityText":"ERROR","body":{"stringValue":"payment refused ü"},"eventName":"order.failed","attributes":[{"key":"order.id","value":{"intValue":42}},{"key":"ratio","value":{"doubleValue":0.5}},{"key":"ok","value":{"boolValue":false}},{"key":"tags","value":{"arrayValue":{"values":[{"stringValue":"a"},{"stringValue":"b"}]}}},{"key":"big","value":{"intValue":9007199254740991}},{"key":"nested","value":{"kvlistValue":{"values":[{"key":"a","value":{"kvlistValue":{"values":[{"key":"b","value":{"intValue":1}}]}}}]}}},{"key":"raw","value":{"bytesValue":"AQL/"}}],"droppedAttributesCount":0,"flags":1,"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174"},{"timeUnixNano":"1753783202000000005","observedTimeUnixNano":"1753783203000000000","severityNumber":9,"body":{"kvlistValue":{"values":[{"key":"message","value":{"stringValue":"a map"}},{"key":"n","value":{"intValue":1}}]}},"attributes":[],"droppedAttributesCount":0}]}]}]}';
