import type { ListedToken, LoginCode, Permission } from "@item-vault/client";
import { LIMITS } from "@item-vault/model/limits";
import { permissionOf } from "@item-vault/model/permission";
import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { describePermission, grants, OPERATIONS, type Scope } from "../admin/scope.ts";
import { call } from "../state/client.ts";
import { vaultName } from "../state/items.ts";
import { navigate } from "../state/route.ts";
import { session } from "../state/session.ts";
import { Button } from "../ui/button.tsx";
import { copy } from "../ui/clipboard.ts";
import { Select } from "../ui/controls.tsx";
import { Form, textOf } from "../ui/form.tsx";
import { Page } from "../ui/page.tsx";
import { NoPerson, ownVaults } from "./authorize-view.tsx";

/** Makes a code that logs in a terminal, and shows who has used it (contract 28.5). No address has the code. */
export function TerminalView() {
  const made = useSignal<LoginCode | undefined>(undefined);
  return (
    <Page title="Connect a terminal">
      {!session.value!.person && <NoPerson />}
      {session.value!.person && !made.value && <CodeForm onMade={(code) => (made.value = code)} />}
      {made.value && <MadeCode key={made.value.id} code={made.value} onAgain={() => (made.value = undefined)} />}
    </Page>
  );
}

const LIFETIMES: readonly (readonly [string, string])[] = [
  ["900", "15 minutes"],
  [String(LIMITS.loginCodeLifetime), "1 hour"],
  [String(LIMITS.loginLifetime), "12 hours"],
];

/** Returns the part of a permission that only reads. */
const readingOf = (permission: Permission): Permission | undefined =>
  permissionOf(OPERATIONS.filter((operation) => grants("r", operation) && grants(permission, operation)));

/** Asks for the permissions of a terminal: to read, for an hour, unless the person chooses more. */
function CodeForm({ onMade }: { readonly onMade: (code: LoginCode) => void }) {
  const own = Object.entries(ownVaults()).map(([id, all]) => ({ id, all, reading: readingOf(all) }));
  const action = async (data: FormData) => {
    const chosen = own.map(({ id, all, reading }) => [id, { all, reading }[textOf(data, id)]] as const);
    const vaults = Object.fromEntries(chosen.filter(([, permission]) => permission)) as Scope;
    const body = { vaults, expiresIn: Number(textOf(data, "lifetime")) };
    onMade((await call("POST /console/login-codes", { body })).data);
  };
  return (
    <Form action={action} submit="Create code" onCancel={() => navigate({ view: "items" })}>
      <p>A program in the terminal gets a token in your name. It is never an administrator.</p>
      {own.map(({ id, all, reading }) => (
        <Select
          key={id}
          label={vaultName(id) || id}
          name={id}
          options={[
            ...(reading ? [["reading", describePermission(reading)] as const] : []),
            ["none", "no access"],
            ...(all === reading ? [] : [["all", describePermission(all)] as const]),
          ]}
        />
      ))}
      <Select label="Expires after" name="lifetime" value={String(LIMITS.loginCodeLifetime)} options={LIFETIMES} />
    </Form>
  );
}

const PAUSE = 2_000; // milliseconds
/** The time after the arrival of a code after which no terminal can appear. The service has some seconds to answer the last terminal. */
const WAIT = (LIMITS.loginCode + 10) * 1000; // milliseconds

type Terminal = NonNullable<ListedToken["login"]>;

const TEXTS = {
  waiting: "Waiting for the terminal…",
  expired: "The code has expired. No terminal uses it.",
  ended: "The login has ended. The terminal has lost access.",
};

/** A code that waits for a terminal, and then the terminal that uses it. The person can end that login. */
function MadeCode({ code, onAgain }: { readonly code: LoginCode; readonly onAgain: () => void }) {
  const state = useSignal<keyof typeof TEXTS | Terminal>("waiting");
  useLayoutEffect(() => {
    const arrival = performance.now();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const poll = async (): Promise<void> => {
      const isLast = performance.now() - arrival > WAIT;
      const terminal = await loadTerminal(code.id).catch(() => undefined);
      if (timer === undefined) return;
      if (terminal || (terminal === null && isLast)) state.value = terminal ?? "expired";
      else wait();
    };
    const wait = () => (timer = setTimeout(() => void poll(), PAUSE));
    wait();
    return () => {
      clearTimeout(timer);
      timer = undefined;
    };
  }, []);
  const onEnd = async () => {
    await call("DELETE /v1/tokens/{token}", { path: { token: code.id } });
    state.value = "ended";
  };
  const { value } = state;
  const isUsed = typeof value === "object";
  return (
    <>
      {value === "waiting" && <Steps code={code} />}
      <output>{isUsed ? `A terminal at ${value.address || "an unknown address"} uses it.` : TEXTS[value]}</output>
      {isUsed && (
        <Form action={onEnd} submit="End it" danger cancel="Create another code" onCancel={onAgain}>
          <p class="quiet">Program: {value.program || "unknown"}</p>
        </Form>
      )}
      {!isUsed && value !== "waiting" && <Form action={onAgain} submit="Create another code" />}
    </>
  );
}

/** Returns the terminal that uses a code, by the id of its token, or null. Throws an ItemVaultError. */
async function loadTerminal(id: string): Promise<Terminal | null> {
  const { data } = await call("GET /v1/tokens");
  const token = data.find((one) => one.id === id);
  if (!token) return null;
  return ("login" in token && token.login) || { address: "", program: "" };
}

const Steps = ({ code }: { readonly code: LoginCode }) => (
  <>
    <p>
      Run this command in the terminal, and paste the code there within {LIMITS.loginCode / 60} minutes. It works once.{" "}
      <strong>Paste it only into a terminal that you opened.</strong>
    </p>
    <pre class="token-text">{`item-vault login --code --host ${location.origin}`}</pre>
    <label>
      Code
      <input readOnly value={code.code} spellcheck={false} />
    </label>
    <div class="buttons">
      <Button text="Copy code" class="primary" onClick={() => void copy("Code", code.code)} />
    </div>
  </>
);
