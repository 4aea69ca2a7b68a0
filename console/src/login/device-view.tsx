import { useSignal } from "@preact/signals";
import { ItemVaultError, type WaitingDevice } from "@item-vault/client";
import { call } from "../api/client.ts";
import { navigate } from "../state/route.ts";
import { session } from "../state/session.ts";
import { Form, InputError, textOf } from "../ui/form.tsx";
import { Page } from "../ui/page.tsx";
import { Confirmation } from "../ui/confirmation.tsx";
import { Facts, NoPerson } from "./facts.tsx";

/** Where a person types the code that a device shows, sees the device, and confirms its login (contract 28.6). No address has the code. */

const NOT_WAITING =
  "No device waits with this code. It may be mistyped or older than 10 minutes. After five wrong codes you are signed out.";

interface Found {
  readonly code: string;
  readonly device: WaitingDevice;
}

const ask = async (code: string, confirm: boolean): Promise<Found> => ({
  code,
  device: (await call("POST /console/devices", { body: { user_code: code, confirm } })).data,
});

export function DeviceView() {
  const found = useSignal<Found | undefined>(undefined);
  const shown = found.value;
  return (
    <Page title="Log in a device">
      {!session.value!.person && <NoPerson />}
      {session.value!.person && !shown && <CodeForm onFound={(next) => (found.value = next)} />}
      {shown && !shown.device.confirmed && <Question found={shown} onChange={(next) => (found.value = next)} />}
      {shown?.device.confirmed && <output>The device is logged in. You can close this page.</output>}
    </Page>
  );
}

function CodeForm({ onFound }: { readonly onFound: (found: Found) => void }) {
  const action = async (data: FormData) => {
    try {
      onFound(await ask(textOf(data, "code"), false));
    } catch (error) {
      throw error instanceof ItemVaultError && error.status === 400 ? new InputError(NOT_WAITING) : error;
    }
  };
  return (
    <Form action={action} submit="Continue" onCancel={() => navigate({ view: "items" })}>
      <label>
        Code
        <input
          name="code"
          required
          autocomplete="off"
          autocapitalize="characters"
          spellcheck={false}
          aria-describedby="code-help"
        />
      </label>
      <p id="code-help" class="quiet">
        The eight letters that the device shows. Type only a code of a device that is yours, and none that somebody has sent you.
      </p>
    </Form>
  );
}

function Question({ found, onChange }: { readonly found: Found; readonly onChange: (next: Found | undefined) => void }) {
  const { address, program, vaults, expiresIn } = found.device;
  return (
    <Confirmation
      action="Confirm"
      onConfirm={async () => onChange(await ask(found.code, true))}
      onCancel={() => onChange(undefined)}
    >
      <p>A device asks for a token. Confirm only if it is yours and shows this code.</p>
      <Facts
        rows={[
          ["Address", address || "unknown"],
          ["Program", program || "unknown"],
        ]}
        vaults={vaults}
        lifetime={expiresIn}
      />
    </Confirmation>
  );
}
