import { ItemVaultError } from "@item-vault/client";

/** Answers that hold a token are small. A larger answer is not one, and is not read to its end. */

const ANSWER_BYTES_MAX = 64 * 1024;

/** The failure of an answer that is something else than was asked for. */
export const foreign = (message: string): ItemVaultError => new ItemVaultError(message, { kind: "foreign", status: 0 });

/** Returns a `fetch` whose answers fail after 64 KiB, even errors. Fails with an ItemVaultError of kind `foreign`. */
export const limited =
  (send: typeof fetch): typeof fetch =>
  async (input, init) => {
    const response = await send(input, init);
    if (!response.body) return response;
    const { status, statusText, headers } = response;
    const { origin } = new URL(input instanceof Request ? input.url : input);
    let bytes = 0;
    const body = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.length;
          if (bytes > ANSWER_BYTES_MAX) controller.error(foreign(`What answers at ${origin} gives no token, but a long answer`));
          else controller.enqueue(chunk);
        },
      }),
    );
    return new Response(body, { status, statusText, headers });
  };

/**
 * Returns the attributes of a JSON object in an answer. `who` is the sender, for the message. Throws an ItemVaultError without any part of
 * the answer.
 */
export async function attributesOf(response: Response, who: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await response.text().catch((error: unknown) => {
    throw error instanceof ItemVaultError ? error : foreign(`The answer of ${who} ended early`);
  });
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    throw foreign(`The answer of ${who} is not JSON, or ended early`); // the message of JSON.parse quotes the text
  }
  throw foreign(`The answer of ${who} is not JSON object`);
}
