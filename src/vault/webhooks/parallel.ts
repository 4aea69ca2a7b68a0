/** A Worker has six connections at a time. One of them stays free for D1 and for the writes of the vault. */
const CONNECTIONS = 5;

/** Runs a function for each value, in their order, five at a time. */
export async function inParallel<T>(values: readonly T[], run: (value: T) => Promise<void>): Promise<void> {
  const waiting = [...values];
  const worker = async (): Promise<void> => {
    for (let value = waiting.shift(); value !== undefined; value = waiting.shift()) await run(value);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
}
