/** A host page in React, for `page.evaluate`. Bundled once with React 18 and once with 19. */
import { StrictMode, version, type ComponentProps } from 'react';
import { createRoot, hydrateRoot, type Root } from 'react-dom/client';
import { ConnectorFrame, type ConnectorFrameElement } from '@connector-frame/react';

/** Props as data. With `fetchSession: true`, the page calls the test's function. */
export type GivenProps = Record<string, unknown>;

declare global {
  var reactPage: {
    version: string;
    /** Calls of the callbacks, with the label of the render that created the callback. */
    callbacks: [label: string, callback: string, ...given: unknown[]][];
    /** Renders or renders again, with new callbacks. */
    render(given: GivenProps, how?: { label?: string; strict?: boolean }): void;
    hydrate(given: GivenProps): void;
    unmount(): void;
    ref: { current: ConnectorFrameElement | null };
  };
  var fetchSession: () => Promise<{ sessionToken: string; organizationId: string }>;
}

const callbacks: typeof reactPage.callbacks = [];
const ref: typeof reactPage.ref = { current: null };
let root: Root | undefined;

export function View({ given, label = '' }: { given: GivenProps; label?: string | undefined }) {
  const { fetchSession: fetchesSession, ...data } = given;
  const props = {
    ...data,
    ...(fetchesSession === true && { fetchSession: () => globalThis.fetchSession() }),
  } as ComponentProps<typeof ConnectorFrame>;
  return (
    <ConnectorFrame
      {...props}
      ref={ref}
      onReady={(...none) => callbacks.push([label, 'ready', ...none])}
      onSave={(connector) => callbacks.push([label, 'save', connector])}
      onCancel={(...none) => callbacks.push([label, 'cancel', ...none])}
      onError={(error) => callbacks.push([label, 'error', error.code])}
    >
      <a href="/connect">Connect by mail</a>
      <p slot="loading">One moment</p>
      <p slot="error">That did not work</p>
    </ConnectorFrame>
  );
}

if ('document' in globalThis) {
  const container = document.querySelector('#root');
  globalThis.reactPage = {
    version,
    callbacks,
    ref,
    render(given, { label, strict } = {}) {
      root ??= createRoot(container as Element);
      const view = <View given={given} label={label} />;
      root.render(strict ? <StrictMode>{view}</StrictMode> : view);
    },
    hydrate(given) {
      root = hydrateRoot(container as Element, <View given={given} label="hydrated" />);
    },
    unmount() {
      root?.unmount();
      root = undefined;
    },
  };
}
