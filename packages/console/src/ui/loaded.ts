import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

/**
 * Returns the result of a request, or its failure, and a function that sends it again. It is sent when the component appears, and again when
 * one of the `inputs` changes. The signal of a request aborts when its answer is no longer needed; a late answer is ignored.
 */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[] = []) {
  const state = useSignal<{ readonly data?: T; readonly error?: unknown }>({});
  const attempt = useSignal(0);
  useLayoutEffect(() => {
    const controller = new AbortController();
    const show = (next: typeof state.value) => void (controller.signal.aborted || (state.value = next));
    show({});
    load(controller.signal).then(
      (data) => show({ data }),
      (error: unknown) => show({ error }),
    );
    return () => controller.abort();
  }, [...inputs, attempt.value]);
  return { ...state.value, retry: () => void attempt.value++ };
}
