import type { PipelineStatus } from '@connector-frame/core/connect';

export interface StateWords {
  word: string;
  tone: 'good' | 'busy' | 'slow' | 'bad' | 'off';
  /** SVG path data for a view box of 20 × 20. */
  icon: string;
  /** Explanation of a status that the word alone does not explain. */
  hint?: string;
}

const circle = 'M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14';

/** How each pipeline status is displayed. Never by color alone. */
export const states: Readonly<Record<PipelineStatus, StateWords>> = {
  Running: { word: 'Running', tone: 'good', icon: `${circle}M8.5 7.3v5.4l4.2-2.7z` },
  Initializing: { word: 'Initializing', tone: 'busy', icon: 'M16.5 10a6.5 6.5 0 1 1-2-4.7M16.5 3v3.5H13' },
  Pending: { word: 'Pending', tone: 'busy', icon: `${circle}M10 6.2V10l2.5 1.7` },
  Throttled: {
    word: 'Throttled',
    tone: 'slow',
    icon: 'M5.5 3.5h9M5.5 16.5h9M6.5 3.5c0 4 3.5 4.5 3.5 6.5s-3.5 2.5-3.5 6.5M13.5 3.5c0 4-3.5 4.5-3.5 6.5s3.5 2.5 3.5 6.5',
    hint: 'The source or destination limits the rate, or the buffer is full. The pipeline continues automatically.',
  },
  Erroring: {
    word: 'Erroring',
    tone: 'bad',
    icon: `${circle}M10 6.5v4M10 13.3v.2`,
    hint: 'The pipeline fails repeatedly. Its log has the reason.',
  },
  Disabled: { word: 'Paused', tone: 'off', icon: `${circle}M8.3 7.5v5M11.7 7.5v5` },
  Unknown: {
    word: 'Unknown',
    tone: 'off',
    icon: `${circle}M8.2 8.2a1.9 1.9 0 1 1 2.6 1.9c-.6.3-.8.6-.8 1.2M10 13.5v.1`,
    hint: 'No recent report from the pipeline.',
  },
};

/** How an enabled pipeline is displayed that the service holds back. The service says why. */
export const suspended: StateWords = {
  word: 'On hold',
  tone: 'slow',
  icon: `${circle}M8.3 7.5v5M11.7 7.5v5`,
};
