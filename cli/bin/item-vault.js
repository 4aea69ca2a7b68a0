#!/usr/bin/env node
import "../dist/item-vault.js";
