// Generated from openapi/ by `npm run types`. Do not edit.

/** A body that is no JSON, such as the content of a File. */
export type Bytes = string | ArrayBuffer | Uint8Array<ArrayBuffer> | Blob | ReadableStream<Uint8Array>;

/** A UUID, or its 26 characters of base32. */
export type Id = string;

export type Category = "LOGIN" | "PASSWORD";

export interface Summary {
  id: Id;
  /** Its title. */
  title: string;
}

export interface Item {
  category?: Category;
  tags?: string[] | null;
}

export interface Error {
  status: number;
  message: string;
}

/** Each operation, by its method and path. `body` and `answer` are `undefined` where there is none. */
export interface Operations {
  /** List the Items of a vault */
  "GET /v1/vaults/{vault}/items": {
    id: "listItems";
    path: {
      /** The vault */
      vault: Id;
    };
    query: {
      /** Such as `title eq "x"`. */
      filter?: string;
    };
    headers: Record<string, never>;
    body: undefined;
    answer: Summary[];
  };
  /** Create an Item */
  "POST /v1/vaults/{vault}/items": {
    id: "createItem";
    path: {
      /** The vault */
      vault: Id;
    };
    query: Record<string, never>;
    headers: Record<string, never>;
    body: Item;
    answer: Item;
  };
}
