/**
 * Quota in bytes for request bodies in memory, so that many concurrent senders can't exhaust it.
 */
export interface BodyQuota {
  /**
   * `shared`: the quota for all is exhausted; `own`: the organization has used its share. Takes
   * nothing in either case.
   */
  take(organizationId: string, bytes: number): 'taken' | 'shared' | 'own';
  give(organizationId: string, bytes: number): void;
}

/**
 * Creates a quota. No organization may hold more than what stays free afterwards, so that there is
 * always room for another one.
 * @param total bytes for all organizations
 * @param each bytes for one organization: two of the largest bodies should fit
 */
export function createBodyQuota(total: number, each: number): BodyQuota {
  const byOrganization = new Map<string, number>();
  let taken = 0;
  return {
    take(organizationId, bytes) {
      const own = byOrganization.get(organizationId) ?? 0;
      if (own + bytes > each) return 'own';
      if (own + bytes > total - taken - bytes) return own > 0 ? 'own' : 'shared';
      taken += bytes;
      byOrganization.set(organizationId, own + bytes);
      return 'taken';
    },
    give(organizationId, bytes) {
      const own = (byOrganization.get(organizationId) ?? 0) - bytes;
      taken -= bytes;
      if (own > 0) byOrganization.set(organizationId, own);
      else byOrganization.delete(organizationId);
    },
  };
}
