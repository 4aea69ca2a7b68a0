import { type Command, command, type Options } from "../frame/command.ts";

/** The command that runs the service on this machine, and its options. */

export const SERVER_OPTIONS = {
  data: {
    type: "string",
    value: "DIR",
    required: true,
    summary: "the directory of the data, made if missing; one server uses it",
  },
  listen: { type: "string", value: "ADDRESS:PORT", summary: "where to listen, by default 127.0.0.1:8080" },
  origin: {
    type: "string",
    value: "URL",
    summary: "the https origin that clients use, required to listen on another address than a loopback one",
  },
  "root-keys": {
    type: "string",
    value: "FILE",
    summary:
      "the file of the secrets, made for a new directory: by default the systemd credential `item-vault`, else DIR.secrets",
  },
  set: {
    type: "string",
    multiple: true,
    value: "NAME=VALUE",
    summary: "a setting of docs/configuration.md; may be given several times",
  },
  "trust-proxy": {
    type: "string",
    value: "N",
    summary: "how many proxies in front of the server name the client's address, by default 0",
  },
  "allow-network": {
    type: "string",
    multiple: true,
    value: "CIDR",
    summary: "a private network that webhooks and issuers may be in, for example 10.0.0.0/8",
  },
  "allow-host": { type: "string", multiple: true, value: "HOST", summary: "a private host that webhooks and issuers may be on" },
  "allow-root": { type: "boolean", summary: "run as root, which the server does not need" },
  from: {
    type: "string",
    value: "FOLDER",
    summary: "run the Worker of this folder: an unpacked release (default: that of this program)",
  },
  check: { type: "boolean", summary: "check the settings, the secrets and the data, and end" },
} as const satisfies Options;

export const SERVER_COMMANDS = [
  command({
    name: "server",
    summary: "run the service on this machine: one process, one directory",
    args: "",
    options: SERVER_OPTIONS,
    examples: [
      "item-vault server --data ~/item-vault",
      "item-vault server --data /var/lib/item-vault --listen 0.0.0.0:8080 --origin https://vault.example.com --trust-proxy 1",
      "item-vault server --data /var/lib/item-vault --check",
    ],
    load: () => import("./server.ts"),
  }),
] as readonly Command[];
