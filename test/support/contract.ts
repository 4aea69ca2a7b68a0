import forOperators from "../../docs/contract-operators.md?raw";
import forClients from "../../docs/contract.md?raw";

/** The text of the contract, which is in two files. */
export const contract = `${forClients}\n${forOperators}`;
