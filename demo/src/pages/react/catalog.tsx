import type {
  CatalogType,
  ComponentKind,
} from '@connector-frame/core/connect';
import { ConnectorCatalog } from '@connector-frame/react/catalog';
import { navigate } from '../shared/navigation.js';

interface Props {
  kind: ComponentKind;
  types: CatalogType[];
}

/** The catalog of connector types, with search. */
export function Catalog({ kind, types }: Props) {
  return (
    <>
      <div className="section-head">
        <h2 id="catalog-title">Add a connection</h2>
      </div>
      <ConnectorCatalog
        types={types}
        onSelect={({ type_id }) =>
          navigate({ kind, typeId: type_id })
        }
      />
    </>
  );
}
