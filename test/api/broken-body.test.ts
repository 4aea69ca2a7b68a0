import { expect, it } from "vitest";
import { freshVault } from "../support/service.ts";

it.each(["POST", "PUT", "PATCH"])(
  "a body whose stream fails before its end is a 400, and nothing is stored: %s",
  async (method) => {
    const { items, call } = await freshVault();
    const { body: item } = await call("POST", items, { body: { title: "Whole", category: "LOGIN" } });
    const broken = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"title": "Ha'));
        controller.error(new Error("the client went away"));
      },
    });
    const { body } = await call(method, method === "POST" ? items : `${items}/${item.id}`, { body: broken });
    expect(body).toEqual({ status: 400, message: "the body ended early, or is not what its headers say" });
    expect((await call("GET", items)).body).toMatchObject([{ title: "Whole", version: 1 }]);
  },
);
