import manifest from "../../../package.json" with { type: "json" };
import type { State } from "./account.ts";

const state = (service: string, good: boolean) => ({
  service,
  status: good ? "ACTIVE" : "ERROR",
  message: good ? "good" : "bad",
});

/** A static file of the deployed Worker, as Cloudflare serves it (html_handling `auto-trailing-slash`). In: the path of a URL. */
export function assetAt({ workers, assets }: Pick<State, "workers" | "assets">, path: string): Buffer | undefined {
  const [worker] = workers.values();
  const paths = path.endsWith("/") ? [`${path}index.html`] : [path, `${path}.html`];
  const hash = paths.map((one) => worker?.active.assets[one]).find((found) => found !== undefined);
  return hash === undefined ? undefined : assets.get(hash);
}

/** /health of the deployed Worker, from what its active version is bound to. The Worker itself does not run here. */
export function healthOf({ workers, databases }: Pick<State, "workers" | "databases">): object | undefined {
  const [worker] = workers.values();
  if (!worker?.onSubdomain) return undefined;
  const { bindings, modules } = worker.active;
  const database = databases.get(bindings.find(({ type }) => type === "d1")?.id ?? "");
  const tables =
    database?.sqlite
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
      .all()
      .map(({ name }) => name) ?? [];
  const secret = (name: string) => bindings.find((binding) => binding.name === name)?.text ?? "";
  return {
    version: [...modules.values()].some((code) => code.includes(`"${manifest.version}"`)) ? manifest.version : "unknown",
    dependencies: [
      state("schema", tables.includes("vaults")),
      state("keys", secret("ROOT_KEYS").startsWith("{")),
      state("settings", secret("ADMIN_TOKEN").length >= 32),
    ],
  };
}
