type Listener = () => void;

/** Who wants to know of which path. */
export interface Subscriptions {
  subscribe: (path: string, listener: Listener) => () => void;
  notify: (path: string) => void;
  /** The path, and everything below it. */
  notifyTree: (path: string) => void;
}

export function createSubscriptions(): Subscriptions {
  const listeners = new Map<string, Set<Listener>>();

  // A copy: a listener may subscribe or unsubscribe others.
  const notify = (path: string): void => {
    for (const listener of Array.from(listeners.get(path) ?? [])) listener();
  };

  return {
    notify,
    notifyTree(path) {
      for (const key of Array.from(listeners.keys())) if (key === path || key.startsWith(`${path}/`)) notify(key);
    },
    subscribe(path, listener) {
      // A wrapper of its own: the same function may be given twice.
      const own = (): void => listener();
      const set = listeners.get(path) ?? new Set();
      listeners.set(path, set.add(own));
      return () => {
        set.delete(own);
        if (set.size === 0 && listeners.get(path) === set) listeners.delete(path);
      };
    },
  };
}
