/** The user canceled. Unless it is prevented, the `<dialog>` around the element is closed. */
export class ConnectorCancelEvent extends Event {
  constructor() {
    super('cancel', { cancelable: true });
  }
}
