import { useSignal, useSignalEffect } from "@preact/signals";
import type { Snapshot } from "@item-vault/client";
import { createList } from "../admin/lists.ts";
import { ListContent, Rows, type RowsView } from "../admin/rows.tsx";
import { BACK_UP, takeAskedAct } from "../state/asked-act.ts";
import { call } from "../state/client.ts";
import { FromNow } from "../ui/day.tsx";
import { Page } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { formatSize } from "../ui/size.ts";
import { formatTime } from "../ui/time.ts";
import { JobsTable } from "./jobs-table.tsx";
import { RestoreDialog } from "./restore-dialog.tsx";
import { BackupDialog, VerifyDialog } from "./start-job.tsx";

/** The backups of everything: making one, verifying, and restoring a vault or an Item. */

const backups = createList(
  async () => (await call("GET /v1/admin/backups")).data.map((one) => Object.assign(one, { id: String(one.number) })),
  false,
);

const DIALOGS = { backup: BackupDialog, verify: VerifyDialog, restore: RestoreDialog };

export function BackupsView() {
  const asked = useSignal<keyof typeof DIALOGS | undefined>(undefined);
  const Asked = asked.value && DIALOGS[asked.value];
  useSignalEffect(() => void (takeAskedAct(BACK_UP) && (asked.value = "backup")));
  const newest = backups.rows.value?.[0]?.createdAt;
  const close = () => {
    asked.value = undefined;
    void backups.load();
  };
  const button = (name: keyof typeof DIALOGS, label: string, style = "") => (
    <button type="button" class={style} onClick={() => (asked.value = name)}>
      {label}
    </button>
  );
  return (
    <Page
      title="Backups"
      actions={
        <>
          {button("verify", "Verify…")}
          {button("restore", "Restore…")}
          {button("backup", BACK_UP, "primary")}
        </>
      }
    >
      {newest !== undefined && (
        <p>
          The last backup was <FromNow time={newest} />.
        </p>
      )}
      <ListContent list={backups} empty="No backups yet. Nightly backups run automatically; you can also back up now.">
        {(rows) => <Rows label="Backups" rows={rows} view={VIEW} />}
      </ListContent>
      <JobsTable onEnd={() => void backups.load()} />
      {Asked && <Asked onClose={close} />}
    </Page>
  );
}

const VIEW: RowsView<Snapshot & { readonly id: string }> = {
  name: "#",
  nameOf: ({ number }) => `Backup ${number}`,
  damaged: "It cannot be restored.",
  columns: [
    {
      label: "Time",
      cell: ({ createdAt }) => createdAt !== undefined && <time dateTime={createdAt}>{formatTime(createdAt)}</time>,
    },
    { label: "Vaults", cell: ({ vaults = 0 }) => vaults.toLocaleString("en") },
    { label: "Size", cell: ({ bytes = 0 }) => formatSize(bytes) },
    {
      label: "Problems",
      cell: ({ missing = [] }) => (missing.length === 0 ? "None" : plural(missing.length, "problem")),
      full: ({ missing = [] }) => (missing.length === 0 ? "None" : missing.join(", ")),
    },
  ],
};
