/** A Vault: what holds Items, and what a token reaches. */
export interface Vault {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** +1 a change of name or description. */
  readonly attributeVersion: number;
  /** +1 a write to an Item. */
  readonly contentVersion: number;
  /** How many Items there are. */
  readonly items: number;
  /** How many were ever created. */
  readonly created: number;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
}
