import { useSignal, useSignalEffect } from "@preact/signals";
import type { Snapshot } from "@item-vault/client";
import { ListContent } from "../admin/list-content.tsx";
import { createList } from "../admin/lists.ts";
import { call } from "../state/client.ts";
import { Page } from "../ui/page.tsx";
import { plural } from "../ui/plural.ts";
import { formatFromNow } from "../ui/relative-time.ts";
import { formatSize } from "../ui/size.ts";
import { Table } from "../ui/table.tsx";
import { formatTime } from "../ui/time.ts";
import { JobsTable } from "./jobs-table.tsx";
import { RestoreDialog } from "./restore-dialog.tsx";
import { BackupDialog, VerifyDialog } from "./start-job.tsx";
import { BACK_UP, takeAskedAct } from "../state/asked-act.ts";

/** The backups of everything: making one, verifying, and restoring a vault or an Item. */

const backups = createList(async () => (await call("GET /v1/admin/backups")).data, false);

const DIALOGS = { backup: BackupDialog, verify: VerifyDialog, restore: RestoreDialog };

export function BackupsView() {
  const asked = useSignal<keyof typeof DIALOGS | undefined>(undefined);
  const Asked = asked.value && DIALOGS[asked.value];
  useSignalEffect(() => void (takeAskedAct(BACK_UP) && (asked.value = "backup")));
  const [newest] = backups.rows.value ?? [];
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
      {newest?.createdAt !== undefined && (
        <p>
          The last backup was <time dateTime={newest.createdAt}>{formatFromNow(newest.createdAt, Date.now())}</time>.
        </p>
      )}
      <ListContent
        list={backups}
        empty={<p class="empty">No backups yet. Nightly backups run automatically; you can also back up now.</p>}
      >
        {(rows) => <Table label="Backups" rows={rows} keyOf={({ number }) => String(number)} columns={COLUMNS} />}
      </ListContent>
      <JobsTable onEnd={() => void backups.load()} />
      {Asked && <Asked onClose={close} />}
    </Page>
  );
}

const COLUMNS = [
  { label: "#", cell: ({ number }: Snapshot) => <span class="name">{number}</span> },
  {
    label: "Time",
    cell: ({ createdAt, broken }: Snapshot) =>
      broken ? (
        <span class="broken">Its record is damaged. It cannot be restored.</span>
      ) : (
        createdAt !== undefined && <time dateTime={createdAt}>{formatTime(createdAt)}</time>
      ),
  },
  { label: "Vaults", cell: ({ vaults = 0 }: Snapshot) => vaults.toLocaleString("en") },
  { label: "Size", cell: ({ bytes = 0 }: Snapshot) => formatSize(bytes) },
  {
    label: "Problems",
    cell: ({ missing = [] }: Snapshot) => (missing.length === 0 ? "None" : plural(missing.length, "problem")),
  },
] as const;
