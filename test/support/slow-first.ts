import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take long although they are short, mostly because they run programs. */
const SLOW =
  /(connectors\/src\/ssrf-namespace|service\/src\/(main|kill|data-folder|full-disk|overflow|tracing)|running\/(process|clocks|database-away)|shared\/(random-kills|shared-process)|embedded\/embedded|connectors\/destination|unit\/(published|release)|demo-pipelines|demo-page|several-processes|frame-contract-\w+)\.test\.ts$/;

/**
 * Starts slow files first, so that no worker is left with one at the end. Without the durations of an
 * earlier run, Vitest goes by the size of the files.
 */
export default class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification): boolean => SLOW.test(moduleId);
    return [...sorted.filter((file) => isSlow(file)), ...sorted.filter((file) => !isSlow(file))];
  }
}
