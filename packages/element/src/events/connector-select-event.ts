import type { CatalogType } from '@connector-frame/core/connect';

/** The user chose a connector type. */
export class ConnectorSelectEvent extends Event {
  /** The chosen type, as the catalog lists it. */
  readonly connectorType: CatalogType;
  /** The same as `connectorType`. */
  readonly detail: CatalogType;

  constructor(connectorType: CatalogType) {
    super('select');
    this.connectorType = connectorType;
    this.detail = connectorType;
  }
}
