/** Bodies of deliveries are kept without credentials, and are cleaned one by one between which deliveries are received. */
import { Context, Effect } from "effect"
import { describe, expect, it } from "vitest"
import type { ConfigStore } from "../../src/config/ConfigStore.ts"
import { cleanBody, PayloadKeeper } from "../../src/ingress/PayloadKeeper.ts"
import { Payloads } from "../../src/store/Payloads.ts"
import type { DeliveryPayload } from "../../src/store/Payloads.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import { document, env } from "./Ingress.ts"

const cleaned = (value: unknown, ...credentials: ReadonlyArray<string>): unknown =>
  JSON.parse(cleanBody(JSON.stringify(value), "application/json", credentials))

describe("a body", () => {
  it.each(["plain-secret", 'with "quotes"', "with\\backslash", "with\nline", "wíth ünïcode 🔑", "a/slash"])(
    "loses the credential %j in every text and name",
    (credential) => {
      const text = `before ${credential} after`
      const body = { [text]: [text, { deep: text }], number: 1, none: null, other: "kept" }
      expect(cleaned(body, credential)).toEqual({
        "before [redacted] after": ["before [redacted] after", { deep: "before [redacted] after" }],
        number: 1,
        none: null,
        other: "kept"
      })
      expect(cleanBody(JSON.stringify(body).replaceAll("s", "\\u0073"), undefined, [credential])).not.toContain(
        JSON.stringify(credential).slice(1, -1)
      )
    }
  )

  it("loses what is named like a credential or has the form of one", () => {
    const body = {
      api_key: ["x", { name: "kept" }],
      password: "",
      note: "https://user:pass@host/?token=abc Bearer abcdefGHIJ1234 glpat-0123456789abcdefgh",
      pem: "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----"
    }
    expect(cleaned(body)).toEqual({
      api_key: ["[redacted]", { name: "kept" }],
      password: "",
      note: "https://[redacted]@host/?token=[redacted] Bearer [redacted] [redacted]",
      pem: "[redacted]"
    })
  })

  it("is not kept where it is nested too deeply", () => {
    expect(cleanBody(`${"[".repeat(300)}${"]".repeat(300)}`, undefined, [])).toBe("[redacted]")
  })
})

it("bodies are cleaned in an iteration of the event loop each", async () => {
  const snapshot = await Effect.runPromise(toSnapshot(document, env))
  const config = { current: () => snapshot } as ConfigStore["Service"]
  const stored: Array<DeliveryPayload> = []
  const payloads = {
    store: (some: ReadonlyArray<DeliveryPayload>) => Effect.sync(() => void stored.push(...some))
  } as unknown as Payloads["Service"]
  const keeper = new PayloadKeeper(config, Context.make(Payloads, payloads))
  const body = Buffer.from(JSON.stringify({ texts: Array.from({ length: 100 }, (_, at) => `text ${at}`) }))
  for (let at = 0; at < 20; at++) {
    keeper.keep({
      eventId: `event-${at}`,
      receivedAt: at,
      path: "github",
      headers: {},
      body,
      contentType: undefined,
      admits: { _tag: "Triggers", names: [] }
    })
  }
  let iterations = 0
  const count = () => {
    iterations++
    if (stored.length === 0) setImmediate(count)
  }
  setImmediate(count)
  await Effect.runPromise(keeper.flush)
  expect(stored).toHaveLength(16)
  expect(iterations).toBeGreaterThanOrEqual(16)
})
