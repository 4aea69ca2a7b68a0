import { BYTES, json, listOf } from "../content.ts";
import { file } from "../examples.ts";
import { type Answer, type Descriptions } from "../operation.ts";

/** Files of Items (contract 9). */

const tag = "Files";

const DOWNLOAD = ["ETag", "ContentDisposition", "AcceptRanges"] as const;

export const downloads: Readonly<Record<number, Answer>> = {
  200: { description: "The content (contract 9.10).", content: BYTES, headers: [...DOWNLOAD, "ContentLength"] },
  206: {
    description: "The bytes of `Range` (contract 9.12).",
    content: BYTES,
    headers: [...DOWNLOAD, "ContentLength", "ContentRange"],
  },
  304: { description: "The client has this content (contract 9.11).", headers: DOWNLOAD },
};
export const DOWNLOADS = { parameters: ["Range", "IfRange", "IfNoneMatch"], answers: downloads } as const;

const UPLOADS = {
  body: { description: "The content: bytes of any type (contract 9.2).", content: BYTES },
  coordinated: true,
  grows: true,
  errors: ["overtaken"],
} as const;

export const fileDescriptions = {
  listFiles: {
    tag,
    summary: "List the Files of an Item",
    description:
      "In the order of their ids, with their contents if `inline_files=true` (contract 9.8, 9.9). A File whose stored record cannot be decrypted is left out (9.14).",
    parameters: ["InlineFiles", "InlineContent"],
    answers: { 200: { description: "The Files.", content: listOf("File", [file]), headers: ["Broken"] } },
    errors: ["invalid", "too_large_to_inline"],
  },
  uploadFile: {
    tag,
    summary: "Upload a File",
    description: "The body is the content. The name is in the query or in `Content-Disposition` (contract 9.2 to 9.5).",
    parameters: ["FileName", "FileSection", "FileDisposition", "ContentDigest"],
    ...UPLOADS,
    answers: { 200: { description: "The new File.", content: json("File", file) } },
  },
  getFile: {
    tag,
    summary: "Read a File",
    description: "Returns the attributes of the File, with its content if `inline_files=true` (contract 9.1, 9.8).",
    parameters: ["InlineFiles", "InlineContent"],
    answers: { 200: { description: "The File.", content: json("File", file) } },
    errors: ["invalid", "too_large_to_inline"],
  },
  deleteFile: {
    tag,
    summary: "Delete a File",
    description: "A write to the Item, which keeps the content with its earlier versions (contract 9.7).",
    coordinated: true,
    answers: { 204: { description: "The File is deleted." } },
  },
  getFileContent: {
    tag,
    summary: "Download a File",
    description: "The bytes, of the current version or of the one that `version` names (contract 9.10 to 9.13, 14.5).",
    answers: downloads,
    parameters: ["VersionOfFile", ...DOWNLOADS.parameters],
    errors: ["invalid", "version_not_found", "range"],
  },
  replaceFileContent: {
    tag,
    summary: "Replace the content of a File",
    description: "The File keeps its id, name and section (contract 9.6).",
    parameters: ["ContentDigest"],
    ...UPLOADS,
    answers: { 200: { description: "The File.", content: json("File", file) } },
  },
} satisfies Partial<Descriptions>;
