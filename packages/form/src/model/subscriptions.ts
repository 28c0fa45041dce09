type Listener = () => void;

/** Change listeners by path. */
export interface Subscriptions {
  subscribe: (path: string, listener: Listener) => () => void;
  notify: (path: string) => void;
  /** Notifies the listeners of the path and of every path below it. */
  notifyTree: (path: string) => void;
}

export function createSubscriptions(): Subscriptions {
  const listeners = new Map<string, Set<Listener>>();

  // Iterate over a copy: listeners may subscribe and unsubscribe.
  const notify = (path: string): void => {
    for (const listener of Array.from(listeners.get(path) ?? [])) listener();
  };

  return {
    notify,
    notifyTree(path) {
      for (const key of Array.from(listeners.keys())) if (key === path || key.startsWith(`${path}/`)) notify(key);
    },
    subscribe(path, listener) {
      // Wrap the listener, so that one function can be subscribed twice.
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
