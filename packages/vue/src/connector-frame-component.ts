import type { ConnectorFrameElement } from '@connector-frame/element';
import type { ComponentPublicInstance, PublicProps, VNode } from 'vue';
import type { ConnectorFrameEmits, ConnectorFrameProps } from './connector-frame-props.js';

/** Value of a template ref on `<ConnectorFrame>`. The methods are those of the element. */
export interface ConnectorFrameExposed {
  /** `null` until the component is mounted. */
  element: ConnectorFrameElement | null;
  save(): void;
  test(): void;
  cancel(): void;
  reload(): void;
}

type Listeners = {
  [Event in keyof ConnectorFrameEmits as `on${Capitalize<Event>}`]?: ConnectorFrameEmits[Event] | undefined;
};
type Props = ConnectorFrameProps & Listeners;

/**
 * Declared explicitly: types that Vue infers only work with the minor version they were built with.
 */
export interface ConnectorFrameComponent {
  new (): Omit<ComponentPublicInstance<Props, {}, {}, {}, {}, ConnectorFrameEmits, Props & PublicProps>, '$slots'> &
    ConnectorFrameExposed & {
      $slots: {
        /** Shown until the element is registered, and while an option is missing. */
        default?: () => VNode[];
        /** Replaces the skeleton. */
        loading?: () => VNode[];
        /** Replaces the error message and its button. */
        error?: () => VNode[];
      };
    };
}
