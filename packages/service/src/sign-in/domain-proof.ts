import { Resolver } from 'node:dns/promises';
import { invalidRequest } from '../api-error.js';

/** Returns the TXT records of a name. Rejects if it has none. */
export type ResolveTxt = (name: string) => Promise<string[][]>;

const LABEL = '_connector-frame';
/** Milliseconds and attempts of a query. */
const QUERY = { timeout: 3_000, tries: 2 };

/** Queries the name servers of the machine. */
export function systemResolveTxt(): ResolveTxt {
  const resolver = new Resolver(QUERY);
  return (name) => resolver.resolveTxt(name);
}

/**
 * Requires that the organization controls the domains: each has a TXT record with its ID. Otherwise an
 * organization could claim the domain of another one, and receive its users at a page of its choice.
 * @throws ApiError 400 that names the records to add
 */
export async function requireDomains(
  domains: readonly string[],
  organizationId: string,
  resolveTxt: ResolveTxt,
): Promise<void> {
  const found = await Promise.all(domains.map((domain) => resolveTxt(`${LABEL}.${domain}`).catch(() => [])));
  const missing = domains.filter((_domain, index) => !found[index]?.some((parts) => parts.join('') === organizationId));
  if (missing.length === 0) return;
  throw invalidRequest(
    `Prove that these domains are yours: add a TXT record with the ID of the organization, and retry. The operator of the service can skip this.`,
    {
      issues: missing.map((domain) => ({
        path: '/email_domains',
        message: `No TXT record ${LABEL}.${domain} with the value ${organizationId}.`,
      })),
    },
  );
}
