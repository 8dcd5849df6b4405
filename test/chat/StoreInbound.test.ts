/** Messages that are stored: each once, and of one person not more in a minute than is of use. */
import { Effect } from "effect"
import { expect, it } from "vitest"
import type { InboundMessage } from "../../src/chat/Inbound.ts"
import { maxPerMinute, storeInbound } from "../../src/chat/StoreInbound.ts"

it("a person who floods a connection leaves few records, and others are not affected", async () => {
  const stored = new Set<string>()
  const requests = {
    add: ({ key }: { readonly key: string }) =>
      Effect.sync(() => {
        const outcome = stored.has(key) ? "duplicate" : "stored"
        stored.add(key)
        return outcome
      })
  }
  const message = (key: string, id: string): InboundMessage => ({
    _tag: "Message",
    key,
    conversation: { kind: "direct", id },
    sender: { type: "feishu_open_id", id },
    text: "aicr help",
    mention: undefined,
    reply: {}
  })
  const store = (inbound: InboundMessage, now: number, connection = "flood") =>
    Effect.runPromise(storeInbound(requests, connection, inbound, now))
  const minute = 1_700_000_040_000
  for (let count = 0; count < 1000; count++) await store(message(`m-${count}`, "ou_eve"), minute + count)
  expect(stored.size).toBe(maxPerMinute)
  expect(await store(message("m-ada", "ou_ada"), minute + 2000)).toBe("stored")
  expect(await store(message("m-other", "ou_eve"), minute + 2000, "other")).toBe("stored")
  expect(await store(message("m-late", "ou_eve"), minute + 3000)).toBe("ignored")
  expect(await store(message("m-late", "ou_eve"), minute + 60_000)).toBe("stored")
  expect(await store(message("m-late", "ou_eve"), minute + 60_001)).toBe("duplicate")
})

it("a message of a group that does not mention the bot leaves no record", async () => {
  const added: Array<string> = []
  const requests = {
    add: ({ key }: { readonly key: string }) => Effect.sync(() => (added.push(key), "stored" as const))
  }
  const message = (key: string, text: string, mention: true | undefined): InboundMessage => ({
    _tag: "Message",
    key,
    conversation: { kind: "group", id: "g" },
    sender: { type: "feishu_open_id", id: "ou_ada" },
    text,
    mention,
    reply: {}
  })
  const store = (inbound: InboundMessage) => Effect.runPromise(storeInbound(requests, "talk", inbound, 0))
  expect(await store(message("talk", "good morning", undefined))).toBe("ignored")
  expect(await store(message("command", "help", true))).toBe("stored")
  expect(added).toEqual(["command"])
})
