import {
  useEffect,
  useState,
  type ReactNode,
} from 'react';
import type {
  ComponentKind,
  SavedConnector,
} from '@connector-frame/react';
import * as api from '../shared/host-api.js';
import { countOf, words } from '../shared/lists.js';
import { focusView } from '../shared/navigation.js';
import { Catalog } from './catalog.js';
import { Connections } from './connections.js';

interface Props {
  kind: ComponentKind;
  tenantId: string;
  saved: (SavedConnector & { how: string }) | undefined;
}

/** Shows the tenant's connectors and the catalog. */
export function Lists({ kind, tenantId, saved }: Props) {
  const types = useList(() => api.catalog(kind));
  const connectors = useList(() =>
    api.connectors(kind, tenantId),
  );
  const [deletedName, setDeletedName] =
    useState<string>();
  const retry = () => {
    types.load();
    connectors.load();
  };
  return (
    <>
      <h1 tabIndex={-1}>{words[kind].title}</h1>
      <p className="lead">
        Credentials are typed into a form of another
        origin: this page can’t see them.
      </p>
      {deletedName !== undefined && (
        <p className="note success" role="status">
          <b>{deletedName}</b> is deleted.
        </p>
      )}
      {saved && deletedName === undefined && (
        <p className="note success" role="status">
          <b>{saved.name}</b> is {saved.how}. Its id:{' '}
          <code>{saved.id}</code>
        </p>
      )}
      <section
        id="connections"
        aria-labelledby="connections-title"
      >
        <div className="section-head">
          <h2 id="connections-title">Your connections</h2>
          <p className="count">
            {countOf(
              connectors.items ?? [],
              connectors.items ?? [],
            )}
          </p>
        </div>
        <State list={connectors} bones={1} retry={retry}>
          <Connections
            kind={kind}
            tenantId={tenantId}
            connectors={connectors.items ?? []}
            types={types.items ?? []}
            savedId={saved?.id}
            onDeleted={(name) => {
              setDeletedName(name);
              connectors.load();
              focusView();
            }}
          />
        </State>
      </section>
      <section
        id="catalog"
        aria-labelledby="catalog-title"
      >
        <State list={types} bones={9} retry={retry}>
          <Catalog
            kind={kind}
            types={types.items ?? []}
          />
        </State>
      </section>
    </>
  );
}

interface List<Item> {
  items?: Item[];
  failure?: string;
  load: () => void;
}

function useList<Item>(
  fetchItems: () => Promise<Item[]>,
): List<Item> {
  const [state, setState] = useState<
    Omit<List<Item>, 'load'>
  >({});
  const load = () => {
    setState({});
    fetchItems().then(
      (items) => setState({ items }),
      (error: Error) =>
        setState({ failure: error.message }),
    );
  };
  useEffect(load, []);
  return { ...state, load };
}

function State(props: {
  list: List<unknown>;
  bones: number;
  retry: () => void;
  children: ReactNode;
}) {
  const { list, bones, retry, children } = props;
  if (list.failure !== undefined)
    return (
      <div className="blank" role="alert">
        <p>{list.failure}</p>
        <button
          className="secondary"
          type="button"
          onClick={retry}
        >
          Try again
        </button>
      </div>
    );
  if (list.items) return children;
  return (
    <div className="products" aria-busy="true">
      {Array.from({ length: bones }, (_, index) => (
        <div className="bone" key={index} />
      ))}
    </div>
  );
}
