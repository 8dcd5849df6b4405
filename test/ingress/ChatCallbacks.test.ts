/** Callbacks of chat platforms without a server: what is stored, what wakes an owner, and what a flood leaves. */
import { Effect, Logger } from "effect"
import { beforeEach, describe, expect, it } from "vitest"
import type { ChatRequests } from "../../src/store/ChatRequests.ts"
import { makeStaticStore } from "../../src/config/snapshots/FileConfigStore.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { StoreError } from "../../src/database/StoreError.ts"
import { makeChatCallbacks } from "../../src/ingress/ChatCallbacks.ts"
import { WarningLimits } from "../../src/observability/LimitedWarnings.ts"
import { callbackSecrets, chatDocument, chatEnv, feishuDirectoryChange, feishuMessage } from "../harness/ChatPeople.ts"
import { encryptFeishu, feishuHeaders } from "../../demo/DemoChat.ts"
import { snapshotFrom } from "../outputs/FromDocument.ts"

const now = 1_700_000_000_000
const snapshot = snapshotFrom(
  { triggers: [{ name: "main", kind: "manual" }], im: chatDocument("https://lark.test", {}, { enabled: false }) },
  { ...chatEnv, FEISHU_SECRET: "feishu-s3cret", WECOM_SECRET: "wecom-s3cret" }
)

describe("callbacks of chat", () => {
  let stored: Set<string>
  let woken: Array<string>
  let logged: Array<string>
  let isFull: boolean
  beforeEach(() => {
    ;[stored, woken, logged, isFull] = [new Set(), [], [], false]
  })
  const add: ChatRequests["Service"]["add"] = ({ key }) =>
    Effect.suspend(() => {
      if (isFull)
        return Effect.fail(new StoreError({ reason: "unavailable", operation: "add", why: verbatimReason("no space") }))
      const outcome = stored.has(key) ? "duplicate" : "stored"
      stored.add(key)
      return Effect.succeed(outcome)
    })
  const callbacks = makeChatCallbacks({
    config: makeStaticStore(snapshot),
    requests: Object({ add }),
    facts: {
      publish: (fact) => {
        if (fact._tag === "ChatReceived") woken.push(fact.connection)
        if (fact._tag === "DirectoryChanged") woken.push(`directory of ${fact.connection}`)
      }
    }
  })
  const signed = (payload: string, seconds = now / 1000) => {
    const body = JSON.stringify({ encrypt: encryptFeishu(callbackSecrets.encryptKey, payload) })
    return { body: Buffer.from(body), headers: feishuHeaders(callbackSecrets.encryptKey, body, seconds) }
  }
  const handle = (request: { readonly body: Uint8Array; readonly headers: Record<string, string> }, at = now) =>
    callbacks
      .handle("lark", { method: "POST", query: new URLSearchParams(), now: at, ...request })
      .pipe(
        Effect.provideService(WarningLimits, limits),
        Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(JSON.stringify(message)))])),
        Effect.runPromise
      )
  let limits: typeof WarningLimits.Service
  beforeEach(() => {
    limits = new Map()
  })

  it("a recorded callback that is sent again has no effect within five minutes, and is refused after them", async () => {
    const request = signed(feishuMessage("m-1", "help"))
    const responses = [await handle(request), await handle(request), await handle(request, now + 299_000)]
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200])
    expect([...stored]).toEqual(["msg:m-1"])
    expect((await handle(request, now + 301_000)).status).toBe(401)
  })

  it("a flood from a sender that is not verified stores nothing, and leaves one line of log a minute", async () => {
    const forged = { body: Buffer.from('{"encrypt":"AAAA"}'), headers: { "x-lark-signature": "00" } }
    for (let count = 0; count < 1000; count++) expect((await handle(forged)).status).toBe(401)
    expect([stored.size, woken, logged.length]).toEqual([0, [], 1])
    expect(logged[0]).toContain("chat callback refused")
  })

  it("a message that cannot be stored is refused, so that the platform delivers it again", async () => {
    isFull = true
    expect((await handle(signed(feishuMessage("m-2", "help")))).status).toBe(503)
    expect(woken).toEqual([])
    isFull = false
    expect((await handle(signed(feishuMessage("m-2", "help")))).status).toBe(200)
    expect(woken).toEqual(["lark"])
  })

  it("a changed directory is reported to the owner, and stores nothing", async () => {
    expect((await handle(signed(feishuDirectoryChange("e-1", "oc_staff")))).status).toBe(200)
    expect([stored.size, woken]).toEqual([0, ["directory of lark"]])
  })
})
