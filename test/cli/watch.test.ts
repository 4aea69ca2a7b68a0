import { type Client, ItemVaultError } from "@item-vault/client";
import { expect, it, vi } from "vitest";
import { resolveAll } from "../../packages/cli/src/read/resolve.ts";
import { renderEnvironment } from "../../packages/cli/src/run/environment.ts";
import { watchValues } from "../../packages/cli/src/run/watch.ts";

/** What `run --watch` does with the answers of the service, without a process and a service. */

const away = new ItemVaultError("away", { kind: "unavailable", status: 503 });

/** Watches while each of `answers` is the answer to one resolve. Ends after the last one. */
async function watch(answers: readonly (Map<string, string> | Error)[], events = 0) {
  const end = new AbortController();
  const left = [...answers];
  const client = {
    async *events({ signal, onOpen }: { signal: AbortSignal; onOpen: () => void }) {
      onOpen();
      for (let sent = 0; sent < events; sent++) yield { type: "item.updated", cursor: String(sent) };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  } as unknown as Client;
  const [onChange, say] = [vi.fn<(values: Map<string, string>) => void>(), vi.fn<(text: string) => void>()];
  const resolve = vi.fn<(signal: AbortSignal) => Promise<Map<string, string>>>(async () => {
    const answer = left.shift()!;
    if (left.length === 0) setTimeout(() => end.abort());
    if (answer instanceof Error) throw answer;
    return answer;
  });
  await watchValues(client, { values: new Map([["r", "old"]]), resolve, onChange, say, signal: end.signal, retry: 1 });
  return { changes: onChange.mock.calls.map(([values]) => values.get("r")), resolve, say };
}

it("a change is found by a later attempt, when the service did not answer the first one", async () => {
  const { changes, say } = await watch([away, away, new Map([["r", "new"]])]);
  expect(changes).toEqual(["new"]);
  expect(say.mock.calls[0]).toEqual(["a vault has changed, but its secrets could not be read: away"]);
});

it("a hundred events that follow each other are one request, which ends with the watch", async () => {
  const { changes, resolve } = await watch([new Map([["r", "old"]])], 100);
  expect(changes).toEqual([]);
  expect(resolve).toHaveBeenCalledOnce();
  expect(resolve.mock.calls[0]![0].aborted).toBe(true);
});

/** A client whose references are refused with these statuses. */
const refusing = (...statuses: number[]) =>
  ({ resolve: async () => statuses.map((status) => ({ reference: "r", status, message: "" })) }) as unknown as Client;

it("a refused reference among unavailable ones is a refusal, for which --fallback has no values", async () => {
  await expect(resolveAll(refusing(503, 404), ["r"])).rejects.toMatchObject({ exit: "notFound" });
  await expect(resolveAll(refusing(503, 503), ["r"])).rejects.toMatchObject({ exit: "unavailable" });
});

it("a value with a NUL character, which no variable can hold, is an error with the name of the variable", () => {
  const environment = { plain: {}, templates: new Map([["A", [{ reference: "r" }]]]) };
  expect(() => renderEnvironment(environment, new Map([["r", "secret\0"]]))).toThrow(/^A: the value has a NUL character/);
});
