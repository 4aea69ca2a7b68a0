#!/usr/bin/env node
await import("../dist/item-vault.js");
