import type { ConnectorFrameElement } from '@connector-frame/element';
import type { ComponentPublicInstance, PublicProps, VNode } from 'vue';
import type { ConnectorFrameEmits, ConnectorFrameProps } from './connector-frame-props.js';

/** What a template ref on `<ConnectorFrame>` holds. The methods are those of the element. */
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

/** Written out: what Vue would infer can be read by the minor version it was built with alone. */
export interface ConnectorFrameComponent {
  new (): Omit<ComponentPublicInstance<Props, {}, {}, {}, {}, ConnectorFrameEmits, Props & PublicProps>, '$slots'> &
    ConnectorFrameExposed & {
      $slots: {
        /** Shown before the form's code runs, and where it can't. */
        default?: () => VNode[];
        /** In place of the frame's own waiting view. */
        loading?: () => VNode[];
        /** In place of the frame's own view of a failure. */
        error?: () => VNode[];
      };
    };
}
