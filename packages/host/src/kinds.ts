import type { ComponentKind } from '@connector-frame/core/protocol';

export const KINDS: readonly ComponentKind[] = ['input', 'output', 'enrichment'];

export const isKind = (value: unknown): value is ComponentKind => KINDS.some((kind) => kind === value);
