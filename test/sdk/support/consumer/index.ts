/** A Worker that gets secrets from Item Vault by service bindings (docs/service-binding.md). */

type Answer = { reference: string } & ({ value: string; encoding?: "base64" } | { status: number; message: string });

interface Secrets {
  get(reference: string): Promise<string>;
  resolve(references: readonly string[]): Promise<readonly Answer[]>;
}

type Bindings = Readonly<Record<"SECRETS" | "REVOKED" | "CLIENT" | "WITHOUT_PROPS", Secrets>>;

/** A request to call a binding, and what it gave or threw. */
export interface Asked {
  readonly binding: keyof Bindings;
  readonly references: string | readonly string[];
}

export default {
  async fetch(request: Request, env: Bindings): Promise<Response> {
    const { binding, references } = (await request.json()) as Asked;
    try {
      const secrets = env[binding];
      const value = typeof references === "string" ? await secrets.get(references) : await secrets.resolve(references);
      return Response.json({ value });
    } catch (error) {
      const { name, message, kind, status } = error as Error & { kind: unknown; status: unknown };
      return Response.json({ refused: { name, message, kind, status } });
    }
  },
};
