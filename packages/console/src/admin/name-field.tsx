import { LIMITS } from "@item-vault/model/limits";

/** The field `name` of a form: a text that is not only spaces. */
export const NameField = ({ value = "", placeholder }: { readonly value?: string; readonly placeholder?: string }) => (
  <label>
    Name
    <input
      name="name"
      required
      pattern=".*\S.*"
      title="Enter a name"
      maxLength={LIMITS.title}
      autocomplete="off"
      defaultValue={value}
      {...(placeholder && { placeholder })}
    />
  </label>
);
