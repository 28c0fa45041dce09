import { useEffect, useRef, useState } from 'react';
import type { SavedConnector } from '@connector-frame/react';
import { words } from '../shared/lists.js';
import {
  focusView,
  onNavigate,
  navigate,
  routeHref,
  readRoute,
} from '../shared/navigation.js';
import { Connect } from './connect.js';
import { Lists } from './lists.js';

export function App({ tenantId }: { tenantId: string }) {
  const [route, setRoute] = useState(readRoute);
  const [saved, setSaved] = useState<
    SavedConnector & { how: string }
  >();
  const { kind, typeId, connectorId } = route;
  const { list, one } = words[kind];

  useEffect(
    () =>
      onNavigate((next) => {
        setSaved(undefined);
        setRoute(next);
      }),
    [],
  );
  const view = routeHref(route);
  const shown = useRef(view);
  useEffect(() => {
    if (shown.current !== view) focusView();
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
      <a className="back" href={routeHref({ kind })}>
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
          navigate({ kind });
          setSaved({
            ...connector,
            how: connectorId ? 'updated' : 'saved',
          });
        }}
        onClose={() => navigate({ kind })}
      />
    </>
  );
}
