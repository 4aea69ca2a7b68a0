import type { Finding } from "@item-vault/client";

/** Findings of a job or of a snapshot: the fault and its place (contract 22.2). */
export const FindingList = ({ findings }: { readonly findings: readonly Finding[] }) => (
  <ul class="outcomes">
    {findings.map((finding, index) => (
      <li key={index}>
        <strong>{finding.kind.replaceAll("_", " ")}</strong>{" "}
        {[finding.vault, finding.item, finding.file, finding.id].filter(Boolean).join(" ")}{" "}
        <span class="quiet">
          {finding.detail}
          {finding.repaired === true && ", repaired"}
        </span>
      </li>
    ))}
  </ul>
);
