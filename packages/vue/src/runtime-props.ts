import { elementOptions, type ConnectorFrameError, type SavedConnector } from '@connector-frame/element';
import type { Prop, PropType } from 'vue';
import type { ConnectorFrameProps } from './connector-frame-props.js';

interface Option {
  readonly type: string;
  readonly required?: true;
}

const constructors: Record<string, unknown> = {
  string: String,
  boolean: Boolean,
  number: Number,
  // Lists, too.
  object: [Object, Array],
  function: Function,
};

/** Types a prop. Vue itself knows only constructors; the element checks the values. */
export const typed = <T>(constructor: unknown): PropType<T> =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the purpose of `PropType`
  constructor as PropType<T>;

/** Props that templates must set; the element reports what else is missing. */
const required = new Set(['kind', 'typeId']);

/** Vue's declarations of the props, derived from the option table. */
export const props: { [Name in keyof ConnectorFrameProps]-?: Prop<ConnectorFrameProps[Name]> } = Object.fromEntries(
  Object.entries<Option>(elementOptions).map(([name, { type }]): unknown[] => [
    name,
    // Without `default: undefined`, Vue makes an absent flag `false`, and the application's default
    // would not apply.
    { type: constructors[type], required: required.has(name), default: undefined },
  ]),
);

export const emits = {
  ready: () => true,
  save: (_connector: SavedConnector) => true,
  cancel: () => true,
  error: (_error: ConnectorFrameError) => true,
};
