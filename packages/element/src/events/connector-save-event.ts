import type { SavedConnector } from '@connector-frame/core/connect';

/** The connector was saved. */
export class ConnectorSaveEvent extends Event {
  /** The saved connector: `id`, and `name` if the form reports it. */
  readonly connector: SavedConnector;
  /** The same as `connector`. */
  readonly detail: SavedConnector;

  constructor(connector: SavedConnector) {
    super('save');
    this.connector = connector;
    this.detail = connector;
  }
}
