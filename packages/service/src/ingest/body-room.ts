/** Bytes of bodies that are under way, so that many senders together can't fill the memory. */
export interface BodyRoom {
  /** `shared`: there is no room; `own`: this connector has its share. Nothing was taken then. */
  take(connectorId: string, bytes: number): 'taken' | 'shared' | 'own';
  give(connectorId: string, bytes: number): void;
}

/**
 * @param total bytes for all
 * @param each bytes for one connector: two of the largest bodies should fit
 */
export function createBodyRoom(total: number, each: number): BodyRoom {
  const byConnector = new Map<string, number>();
  let taken = 0;
  return {
    take(connectorId, bytes) {
      const own = byConnector.get(connectorId) ?? 0;
      if (own + bytes > each) return 'own';
      if (taken + bytes > total) return 'shared';
      taken += bytes;
      byConnector.set(connectorId, own + bytes);
      return 'taken';
    },
    give(connectorId, bytes) {
      const own = (byConnector.get(connectorId) ?? 0) - bytes;
      taken -= bytes;
      if (own > 0) byConnector.set(connectorId, own);
      else byConnector.delete(connectorId);
    },
  };
}
