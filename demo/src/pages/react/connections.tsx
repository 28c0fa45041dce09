import type {
  CatalogType,
  ConfiguredConnector,
} from '@connector-frame/core/connect';
import type { ComponentKind } from '@connector-frame/react';
import {
  describe,
  newestFirst,
  words,
} from '../shared/lists.js';
import '../shared/pipelines/pipeline-row.js';
import type { InputDeletedEvent } from '../shared/pipelines/pipeline-row.js';
import { routeHref } from '../shared/navigation.js';
import { Mark } from './mark.js';

interface Props {
  kind: ComponentKind;
  tenantId: string;
  connectors: ConfiguredConnector[];
  types: CatalogType[];
  savedId: string | undefined;
  onDeleted: (name: string) => void;
}

/** Lists the tenant's connectors. */
export function Connections({
  kind,
  tenantId,
  connectors,
  types,
  savedId,
  onDeleted,
}: Props) {
  if (connectors.length === 0)
    return (
      <div className="blank">
        <p>{words[kind].none}</p>
      </div>
    );
  return (
    <ul className="connections">
      {newestFirst(connectors, savedId).map(
        (connector) => {
          const { icon, typeName, name, about, limit } =
            describe(connector, types);
          const isNew = connector.id === savedId;
          return (
            <li className="connection" key={connector.id}>
              <Mark icon={icon} name={typeName} />
              <span className="connection-text">
                <a
                  className="connection-name"
                  href={routeHref({
                    kind,
                    typeId: connector.type_id,
                    connectorId: connector.id,
                  })}
                >
                  {name}
                </a>
                <span className="connection-about">
                  {about}
                </span>
                {limit && (
                  <span className="connection-limit">
                    {limit}
                  </span>
                )}
              </span>
              <span
                className="state"
                data-state={isNew ? 'new' : undefined}
              >
                {isNew ? 'Saved just now' : 'Saved'}
              </span>
              <span
                className="connection-edit"
                aria-hidden="true"
              >
                Edit
              </span>
              {kind === 'input' && (
                <pipeline-row
                  tenant-id={tenantId}
                  input-id={connector.id}
                  input-name={name}
                  type-id={connector.type_id}
                  is-new={isNew || undefined}
                  saved-only={limit ? true : undefined}
                  ondeleted={(
                    event: InputDeletedEvent,
                  ) => {
                    event.preventDefault();
                    onDeleted(event.detail.inputName);
                  }}
                />
              )}
            </li>
          );
        },
      )}
    </ul>
  );
}
