/** Bytes of bodies that are under way, so that many senders together can't fill the memory. */
export interface BodyRoom {
  /** `shared`: there is no room; `own`: this organization has its share. Nothing was taken then. */
  take(organizationId: string, bytes: number): 'taken' | 'shared' | 'own';
  give(organizationId: string, bytes: number): void;
}

/**
 * Nobody may hold more than is left free after that: however many take all they can get, there is some for the next.
 * @param total bytes for all
 * @param each bytes for one organization: two of the largest bodies should fit
 */
export function createBodyRoom(total: number, each: number): BodyRoom {
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
