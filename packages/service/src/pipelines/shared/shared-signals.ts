import { EventSignals } from '../../alerts/alert-records.js';
import type { Notifications } from '../../store/notifications.js';

const CHANNEL = 'connector_frame_alerts';

/**
 * Notifies the pipelines of all processes that there are new events: only the member that leads stores
 * them, and any other may run a pipeline that delivers them.
 */
export class SharedSignals extends EventSignals {
  readonly #notifications: Pick<Notifications, 'on' | 'notify'>;

  /** @param notifications that are not started yet */
  constructor(notifications: Pick<Notifications, 'on' | 'notify'>) {
    super();
    this.#notifications = notifications;
    notifications.on(CHANNEL, (organizationId) => {
      if (organizationId === undefined) this.notifyAll();
      else super.notify([organizationId]);
    });
  }

  override notify(organizationIds: Iterable<string>): void {
    const ids = [...organizationIds];
    super.notify(ids);
    for (const id of ids) this.#notifications.notify(CHANNEL, id);
  }
}
