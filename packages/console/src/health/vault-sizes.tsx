import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import type { AdminVault, BrokenVault } from "@item-vault/client";
import { call } from "../api/client.ts";
import { Failure } from "../ui/failure.tsx";
import { formatSize } from "../ui/size.ts";
import { SizeChart } from "./size-chart.tsx";

/** The largest vaults, by the bytes of their Items and of their Files. */

const SHOWN = 20;

type ListedVault = AdminVault | BrokenVault;

const nameOf = (vault: ListedVault): string => ("name" in vault ? vault.name : vault.id.slice(0, 8));
const bytesOf = ({ usage }: ListedVault): number => (usage.bytes ?? 0) + usage.fileBytes;

export function VaultSizes() {
  const vaults = useSignal<readonly ListedVault[] | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  useLayoutEffect(() => {
    call("GET /v1/admin/vaults").then(
      ({ data }) => (vaults.value = data),
      (error: unknown) => (failure.value = error),
    );
  }, []);
  if (failure.value !== undefined) return <Failure error={failure.value} />;
  if (!vaults.value || vaults.value.length === 0) return null;
  const largest = vaults.value.toSorted((a, b) => bytesOf(b) - bytesOf(a)).slice(0, SHOWN);
  const bars = largest.map((vault) => ({ label: nameOf(vault), values: [vault.usage.bytes ?? 0, vault.usage.fileBytes] }));
  return <SizeChart title="Largest vaults" series={["Items", "Files"]} bars={bars} format={formatSize} />;
}
