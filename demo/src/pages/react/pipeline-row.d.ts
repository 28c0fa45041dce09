import type { HTMLAttributes } from 'react';
import type { InputDeletedEvent } from '../shared/pipelines/pipeline-row.js';

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'pipeline-row': HTMLAttributes<HTMLElement> & {
        'tenant-id': string;
        'input-id': string;
        'input-name': string;
        'type-id': string;
        'is-new': true | undefined;
        'saved-only': true | undefined;
        ondeleted: (event: InputDeletedEvent) => void;
      };
    }
  }
}
