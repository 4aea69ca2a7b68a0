/** Runs tasks with a bound on how many run at a time. */

/**
 * Out: the results in the order of `inputs`. The first failure ends it: no further task begins, those that run are awaited,
 * and it is thrown. The same holds for an aborted signal.
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
