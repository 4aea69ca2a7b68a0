import { generatePassword, type Password, type PasswordRecipe } from "@item-vault/model/password";

/** Generates a value in the browser. Returns undefined if the recipe leaves no character to draw from. */
export function generate(recipe: PasswordRecipe): Password | undefined {
  const generated = generatePassword(recipe, (size) => crypto.getRandomValues(new Uint8Array(size)));
  return generated.ok ? generated.value : undefined;
}
