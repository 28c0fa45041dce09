import { useEffect, useRef, useState } from 'react';
import type { SavedConnector } from '@connector-frame/react';
import { words } from '../shared/lists.js';
import {
  enterView,
  followPlaces,
  goTo,
  placeHref,
  readPlace,
} from '../shared/place.js';
import { Connect } from './connect.js';
import { Lists } from './lists.js';

export function App({ tenantId }: { tenantId: string }) {
  const [place, setPlace] = useState(readPlace);
  const [saved, setSaved] = useState<
    SavedConnector & { how: string }
  >();
  const { kind, typeId, connectorId } = place;
  const { list, one } = words[kind];

  useEffect(
    () =>
      followPlaces((next) => {
        setSaved(undefined);
        setPlace(next);
      }),
    [],
  );
  const view = placeHref(place);
  const shown = useRef(view);
  useEffect(() => {
    if (shown.current !== view) enterView();
    shown.current = view;
  }, [view]);

  if (!typeId)
    return (
      <Lists
        key={kind}
        kind={kind}
        tenantId={tenantId}
        saved={saved}
      />
    );
  return (
    <>
      <a className="back" href={placeHref({ kind })}>
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path d="M12 5 7 10l5 5" />
        </svg>
        {list}
      </a>
      <h1 tabIndex={-1}>
        {connectorId ? 'Edit' : 'New'} {one}
      </h1>
      <Connect
        form={{
          tenantId,
          kind,
          typeId,
          existingId: connectorId,
        }}
        onSaved={(connector) => {
          goTo({ kind });
          setSaved({
            ...connector,
            how: connectorId ? 'updated' : 'connected',
          });
        }}
        onClose={() => goTo({ kind })}
      />
    </>
  );
}
