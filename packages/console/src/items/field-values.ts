import type { Field } from "@item-vault/client";
import type { ComponentType } from "preact";
import { lazy } from "../ui/lazy.tsx";
import type { FieldProps } from "./field-types.ts";

/** The types of fields whose value is not shown as a text, with what shows it. */
export const FIELD_VALUES: Partial<Readonly<Record<Field["type"], ComponentType<FieldProps>>>> = {
  OTP: lazy(() => import("../otp/one-time-password.tsx").then(({ OneTimePassword }) => OneTimePassword)),
};
