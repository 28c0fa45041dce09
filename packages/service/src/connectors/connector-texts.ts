import type { Connector, SecretNote } from '../store/store.js';
import { presentConnectors } from './present-connector.js';

/** Connectors as JSON text. What a version of a connector says never changes, so it is made once. */
export interface ConnectorTexts {
  /** @param notesOf what is kept of the secrets of some connectors; asked only about versions not seen before */
  of(connectors: readonly Connector[], notesOf: (ids: string[]) => Promise<SecretNote[]>): Promise<string[]>;
}

/** Characters remembered; beyond that it starts anew. */
const MAX_SIZE = 16_000_000;

export function createConnectorTexts(): ConnectorTexts {
  const known = new Map<string, string>();
  let size = 0;

  function remember(name: string, text: string): void {
    if (size + text.length > MAX_SIZE) {
      known.clear();
      size = 0;
    }
    known.set(name, text);
    size += text.length;
  }

  return {
    async of(connectors, notesOf) {
      const texts = new Map(connectors.map((connector) => [connector, known.get(nameOf(connector))]));
      const missing = connectors.filter((connector) => texts.get(connector) === undefined);
      const bodies = missing.length > 0 ? presentConnectors(missing, await notesOf(missing.map(({ id }) => id))) : [];
      missing.forEach((connector, index) => {
        const text = JSON.stringify(bodies[index]);
        texts.set(connector, text);
        remember(nameOf(connector), text);
      });
      return connectors.map((connector) => texts.get(connector) ?? '');
    },
  };
}

const nameOf = ({ id, version }: Connector): string => `${id} ${version}`;
