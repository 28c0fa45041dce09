import type {
  Appearance,
  ComponentKind,
  ConfigMetaOverrides,
  ConnectorFrameSession,
} from '@connector-frame/core/connect';

/** What a frame is made of: the element's properties. */
export interface FrameSettings {
  kind: ComponentKind | undefined;
  typeId: string | undefined;
  existingId: string | undefined;
  organizationId: string | undefined;
  sessionToken: string | undefined;
  fetchSession: (() => Promise<ConnectorFrameSession>) | undefined;
  hostUrl: string | undefined;
  tenantId: string | undefined;
  displayName: string | undefined;
  name: string | undefined;
  description: string | undefined;
  isNameEditable: boolean;
  isDescriptionEditable: boolean;
  appearance: Appearance | undefined;
  stylesheets: string[] | undefined;
  configMetaOverrides: ConfigMetaOverrides | undefined;
  synthetic: boolean;
  frameOrigin: string | undefined;
  apiBase: string | undefined;
  loadTimeout: number | undefined;
}

const objects = ['appearance', 'stylesheets', 'configMetaOverrides'] as const;

/** Says what is wrong even before anything is missing: such a value never becomes right by waiting. */
export function problemOf(settings: FrameSettings): string | undefined {
  const { kind } = settings;
  if (kind && kind !== 'input' && kind !== 'output') return `kind: "${String(kind)}" is not input or output`;
  for (const name of objects) {
    const value: unknown = settings[name] ?? undefined;
    if (typeof value === 'string') return `${name}: "${value}" is not JSON`;
  }
  return undefined;
}

/** Settings that name a form and where its session comes from. */
export type CompleteSettings = FrameSettings & { kind: ComponentKind; typeId: string };

/** Whether a form can be made of it: it has a type, and a session or somebody to ask for one. */
export function isComplete(settings: FrameSettings): settings is CompleteSettings {
  const { kind, typeId, sessionToken, organizationId, fetchSession, hostUrl, tenantId } = settings;
  const session = (sessionToken && organizationId) || fetchSession || (hostUrl && tenantId);
  return Boolean(kind && typeId && session);
}

/** Which form it is. Settings with another identity need another form; the empty text is none. */
export function identityOf(settings: FrameSettings): string {
  const { kind, typeId, existingId, organizationId, frameOrigin, apiBase, hostUrl, tenantId } = settings;
  if (!kind || !typeId) return '';
  return JSON.stringify([kind, typeId, existingId, organizationId, frameOrigin, apiBase, hostUrl, tenantId]);
}
