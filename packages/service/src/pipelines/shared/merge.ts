/**
 * Yields what several sources yield, as it arrives, until one of them ends.
 * @param sources begin to yield when called, and end when the signal is aborted
 */
export async function* merge<T>(
  sources: readonly ((signal: AbortSignal) => AsyncIterable<T>)[],
  signal: AbortSignal,
): AsyncGenerator<T, void, void> {
  const ending = new AbortController();
  const iterators = sources.map((source) => source(AbortSignal.any([signal, ending.signal]))[Symbol.asyncIterator]());
  const read = async (index: number) => ({ index, result: await iterators[index]?.next() });
  const pending = iterators.map((_, index) => read(index));
  try {
    for (;;) {
      const { index, result } = await Promise.race(pending);
      if (!result || result.done === true) return;
      pending[index] = read(index);
      yield result.value;
    }
  } finally {
    ending.abort();
  }
}
