import { createConnectorFrame, type ConnectorFrame, type SavedConnector } from '@connector-frame/core/connect';
import { appearanceOf } from '../shared/appearance-of.js';
import { byId } from '../shared/dom.js';
import * as backend from '../shared/host-api.js';
import { messageOf } from '../shared/message-of.js';
import { currentScheme } from '../shared/theme.js';
import type { EventLog } from './event-log.js';
import type { Place } from './place.js';

/** Before the form is there, nobody but the page can tell these. Every other failure is told inside the form. */
const unseen = new Set(['frame_blocked', 'frame_unreachable', 'frame_timeout', 'session_failed', 'offline']);

/** Milliseconds of silence after which a person wants to know that something is still happening. */
const patience = 1_500;

export interface PanelOptions {
  log: EventLog;
  onSaved: (connector: SavedConnector) => void;
  onCanceled: () => void;
}

/** Shows one connector's form in place. */
export function createConnectorPanel({ log, onSaved, onCanceled }: PanelOptions) {
  const card = byId('frame');
  const state = byId('connector-state');
  const failure = byId('frame-failure');
  const failureText = byId('frame-failure-text');
  const themeHint = byId('frame-theme');
  let frame: ConnectorFrame | undefined;
  let reopen: (() => void) | undefined;
  let slow: ReturnType<typeof setTimeout> | undefined;

  const settle = () => {
    clearTimeout(slow);
    state.textContent = '';
    card.removeAttribute('aria-busy');
  };

  const close = () => {
    frame?.destroy();
    frame = undefined;
    settle();
    failure.hidden = true;
    themeHint.hidden = true;
    card.hidden = false;
  };

  const fail = (message: string) => {
    close();
    card.hidden = true;
    failure.hidden = false;
    failureText.textContent = message;
  };

  const open = async (tenantId: string, { kind, typeId = '', connectorId }: Place) => {
    close();
    reopen = () => void open(tenantId, { kind, typeId, connectorId });
    card.dataset['theme'] = currentScheme();
    card.setAttribute('aria-busy', 'true');
    slow = setTimeout(() => {
      state.textContent = 'Still loading …';
    }, patience);
    const turn = reopen;
    let ready = false;
    let refusal: string | undefined;
    try {
      const { frameOrigin, apiBase } = await backend.config();
      if (reopen !== turn) return;
      log(connectorId ? 'edit' : 'create', typeId);
      frame = createConnectorFrame({
        container: card,
        kind,
        typeId,
        existingId: connectorId,
        isNameEditable: true,
        appearance: appearanceOf(card),
        frameOrigin,
        apiBase,
        fetchSession: async () => {
          log('session', 'a token for this form alone');
          return backend.session({ tenantId, kind, typeId, connectorId }).catch((error: unknown) => {
            refusal = messageOf(error);
            throw error;
          });
        },
        onReady: () => {
          log('ready');
          ready = true;
          settle();
        },
        onSave: (connector) => {
          log('save', JSON.stringify(connector, null, 1));
          onSaved(connector);
        },
        onCancel: () => {
          log('cancel');
          onCanceled();
        },
        onError: (message, { code }) => {
          log('error', `${code}: ${message}`);
          settle();
          if (!ready && unseen.has(code)) fail(code === 'session_failed' ? (refusal ?? message) : message);
        },
      });
    } catch (error) {
      log('error', String(error));
      if (reopen === turn) fail(messageOf(error));
    }
  };

  byId('frame-retry').addEventListener('click', () => reopen?.());
  byId('frame-reopen').addEventListener('click', () => reopen?.());

  return {
    open,
    close(): void {
      close();
      reopen = undefined;
    },
    /** A form takes its colors once; typed work is not thrown away for new ones unless the person says so. */
    themeChanged(): void {
      themeHint.hidden = frame === undefined || card.dataset['theme'] === currentScheme();
    },
  };
}
