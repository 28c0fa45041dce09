import {
  ConnectorFrame,
  type ComponentKind,
  type SavedConnector,
} from '@connector-frame/react';
import { log } from '../shared/event-log.js';
import { useAppearance } from './use-appearance.js';

export function Connect({
  form,
  onSaved,
  onClose,
}: Props) {
  return (
    <ConnectorFrame
      {...form}
      className="card"
      hostUrl="/api"
      isNameEditable
      appearance={useAppearance()}
      onReady={() => log('ready')}
      onSave={(connector) => {
        log('save', connector);
        onSaved(connector);
      }}
      onCancel={() => {
        log('cancel');
        onClose();
      }}
      onError={({ code, message }) =>
        log('error', `${code}: ${message}`)
      }
    />
  );
}

interface Props {
  form: {
    tenantId: string;
    kind: ComponentKind;
    typeId: string;
    existingId: string | undefined;
  };
  onSaved: (connector: SavedConnector) => void;
  onClose: () => void;
}
