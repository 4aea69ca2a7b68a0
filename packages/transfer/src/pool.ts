/** Runs tasks with a bound on how many run at a time. */

/**
 * Runs tasks in parallel. Returns the results in the order of `inputs`. After the first failure no further task begins, running tasks are
 * awaited, and the failure is thrown. An aborted signal has the same effect.
 */
export async function inParallel<In, Out>(
  inputs: readonly In[],
  task: (input: In, index: number) => Promise<Out>,
  { most = 16, signal }: { readonly most?: number; readonly signal?: AbortSignal | undefined } = {},
): Promise<Out[]> {
  const results: Out[] = [];
  let next = 0;
  let failure: { error: unknown } | undefined;
  const worker = async () => {
    while (next < inputs.length && !failure) {
      const index = next++;
      try {
        signal?.throwIfAborted();
        results[index] = await task(inputs[index]!, index);
      } catch (error) {
        failure ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, inputs.length) }, worker));
  if (failure) throw failure.error;
  return results;
}
