import type { Alert } from '../store/alerts.js';

/** The firing alerts, by rule and resource. */
export class Incidents {
  readonly #byRule = new Map<string, Map<string, Alert>>();

  constructor(alerts: readonly Alert[] = []) {
    for (const alert of alerts) this.put(alert);
  }

  get(ruleId: string, resourceId: string): Alert | undefined {
    return this.#byRule.get(ruleId)?.get(resourceId);
  }

  /** Adds or replaces an alert; removes one that is resolved. */
  put(alert: Alert): void {
    const { ruleId, resourceId, resolvedAt } = alert;
    const known = this.#byRule.get(ruleId);
    if (resolvedAt) {
      known?.delete(resourceId);
      if (known?.size === 0) this.#byRule.delete(ruleId);
    } else if (known) known.set(resourceId, alert);
    else this.#byRule.set(ruleId, new Map([[resourceId, alert]]));
  }

  *all(): Iterable<Alert> {
    for (const alerts of this.#byRule.values()) yield* alerts.values();
  }
}
