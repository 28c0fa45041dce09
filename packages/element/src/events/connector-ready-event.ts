/** The form is shown. Again after it had to load anew, for example because the element was moved. */
export class ConnectorReadyEvent extends Event {
  constructor() {
    super('ready');
  }
}
