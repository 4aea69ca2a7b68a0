import { useSignal } from "@preact/signals";
import type { NewIssuer } from "@item-vault/client";
import { PRESET_NAMES, type PresetName, PRESETS } from "@item-vault/model/workload-presets";
import { call } from "../api/client.ts";
import { showToast } from "../state/toasts.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Form, InputError, textOf } from "../ui/form.tsx";
import { explainQuota } from "./explain-quota.ts";
import { workloads } from "./lists.ts";
import { NameField } from "./name-field.tsx";
import { PRESET_LABELS } from "./preset-labels.ts";

/** Adds an issuer of workload tokens (contract 27.1). */

export function IssuerForm({ onClose }: { readonly onClose: () => void }) {
  const preset = useSignal(PRESET_NAMES[0]!);
  const { url = "", once } = PRESETS[preset.value];
  const action = async (data: FormData) => {
    const body: NewIssuer = {
      name: textOf(data, "name"),
      issuer: textOf(data, "issuer"),
      preset: preset.value,
      ...(asksOnce(preset.value) && { once: data.has("once") }),
      ...parseKeys(textOf(data, "jwks")),
    };
    await call("POST /v1/admin/issuers", { body }).catch(explainQuota);
    onClose();
    showToast("Issuer added. Add a rule for each of its workloads.");
    void workloads.load();
  };
  return (
    <Dialog title="Add issuer" onClose={onClose}>
      <Form action={action} submit="Add issuer" onCancel={onClose}>
        <NameField placeholder="e.g. GitHub" />
        <label>
          Platform
          <select value={preset.value} onChange={(event) => (preset.value = event.currentTarget.value as PresetName)}>
            {PRESET_NAMES.map((name) => (
              <option key={name} value={name}>
                {PRESET_LABELS[name]}
              </option>
            ))}
          </select>
        </label>
        <label key={`${preset.value} URL`}>
          URL
          <input
            name="issuer"
            type="url"
            required
            pattern="https://.*"
            title="A URL that begins with https://"
            autocomplete="off"
            aria-describedby="issuer-help"
            defaultValue={url}
          />
        </label>
        <p id="issuer-help" class="quiet">
          Must match the <code>iss</code> claim exactly.
        </p>
        {asksOnce(preset.value) && (
          <label key={`${preset.value} once`} class="check">
            <input type="checkbox" name="once" defaultChecked={once} />
            Accept each of its tokens only once
          </label>
        )}
        <label>
          Public keys, if the service cannot fetch them
          <textarea name="jwks" rows={3} spellcheck={false} autocomplete="off" placeholder='{"keys": […]}' />
        </label>
      </Form>
    </Dialog>
  );
}

/** Whether a workload may present a token again. Elsewhere each job asks for new ones, so nobody needs more than one exchange. */
const asksOnce = (preset: PresetName): boolean => preset === "generic" || !PRESETS[preset].once;

/** A JWK set (RFC 7517 section 5), if there is one. Errors: an InputError without any part of the text: it may be a private key. */
function parseKeys(text: string): Pick<NewIssuer, "jwks"> {
  if (text.trim() === "") return {};
  try {
    return { jwks: JSON.parse(text) as NonNullable<NewIssuer["jwks"]> }; // The service says what is wrong with it.
  } catch {
    throw new InputError("The public keys must be a JWK set in JSON, as the platform publishes it.");
  }
}
