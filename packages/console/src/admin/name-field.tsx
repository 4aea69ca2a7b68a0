import { LIMITS } from "@item-vault/model/limits";
import { Field } from "../ui/controls.tsx";

/** The field `name` of a form: a text that is not only spaces. */
export const NameField = ({ value = "", placeholder = "" }: { readonly value?: string; readonly placeholder?: string }) => (
  <Field
    label="Name"
    name="name"
    required
    pattern=".*\S.*"
    title="Enter a name"
    maxLength={LIMITS.title}
    defaultValue={value}
    placeholder={placeholder}
  />
);
