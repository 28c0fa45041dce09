/**
 * The form is shown. Repeated after it had to reload, for example because the element was moved.
 */
export class ConnectorReadyEvent extends Event {
  constructor() {
    super('ready');
  }
}
