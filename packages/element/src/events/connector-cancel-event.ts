/** The person canceled. Unless it is prevented, the `<dialog>` in which the element stands is closed. */
export class ConnectorCancelEvent extends Event {
  constructor() {
    super('cancel', { cancelable: true });
  }
}
