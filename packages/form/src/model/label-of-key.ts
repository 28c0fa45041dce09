const ACRONYMS =
  /\b(?:api|arn|aws|ca|dns|gcp|http|https|iam|id|ip|json|kms|sas|sns|sqs|ssl|sso|tcp|tls|udp|uri|url)\b/g;

/** A readable label for a field whose type gives none: `org_url` -> `Org URL`, `maxRetries` -> `Max retries`. */
export function labelOfKey(key: string): string {
  const words = key
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .split(/[\s_.-]+/)
    .filter(Boolean)
    .join(' ')
    .toLowerCase()
    .replaceAll(ACRONYMS, (word) => word.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}
