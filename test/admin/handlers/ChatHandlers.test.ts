/** Chat connections, requests and bindings over real HTTP. */
import { Effect } from "effect"
import { assert, afterAll, beforeAll, describe, it } from "vitest"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { newId } from "../../../src/domain/Ids.ts"
import { ChatHealths } from "../../../src/store/ChatHealths.ts"
import { ChatRequests } from "../../../src/store/ChatRequests.ts"
import { Notices } from "../../../src/store/Notices.ts"
import { chatDocument, chatEnv } from "../../harness/ChatPeople.ts"
import { chatRequest } from "../../store/Fixtures.ts"
import { password, startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

let admin: AdminServer
let token: unknown
beforeAll(async () => {
  admin = await startAdmin({
    document: {
      server: { base_url: "https://aicr.test" },
      im: chatDocument("https://lark.test", { app: { workspace: "app" } })
    },
    env: {
      SVC_ADMIN_USERNAME: "root",
      SVC_ADMIN_PASSWORD: password,
      SECRET: "s",
      ...chatEnv,
      FEISHU_SECRET: "f",
      WECOM_SECRET: "w"
    }
  })
  token = await admin.token()
})
afterAll(() => admin.stop())

const itemsAt = async (path: string): Promise<ReadonlyArray<Record<string, unknown>>> => {
  const { items } = (await admin.call("GET", path, { token })).body
  assert(Array.isArray(items), path)
  return items
}

describe("chat", () => {
  it("lists connections with their state and no secret", async () => {
    const now = Date.now()
    await admin.run(
      Effect.flatMap(ChatHealths, ({ report }) =>
        report({
          connection: "corp",
          state: "failing",
          detail: verbatimReason("d"),
          node: "n",
          since: now,
          reportedAt: now
        })
      )
    )
    const items = await itemsAt("/chat/connections")
    const corp = items.find(({ id }) => id === "corp")
    assert.deepInclude(corp, {
      kind: "wecom_app",
      enabled: true,
      state: "failing",
      detail: verbatimReason("d"),
      node: "n"
    })
    assert.strictEqual(corp?.["callback_url"], "https://aicr.test/callbacks/im/corp")
    assert.deepInclude(
      items.find(({ id }) => id === "lark"),
      { state: "unknown", receives: "callback" }
    )
    assert.notInclude(JSON.stringify(items), chatEnv.CHAT_TOKEN)
  })

  it("lists requests by connection, without their text", async () => {
    const request = chatRequest({ facts: { text: "private words", isAction: false, reply: {} } })
    await admin.run(Effect.flatMap(ChatRequests, ({ add }) => add(request)))
    const [item, ...others] = await itemsAt("/chat/requests?connection=lark&status=accepted")
    assert.deepInclude(item, { id: request.id, sender: "ou_ada", conversation: "oc_team", status: "accepted" })
    assert.deepStrictEqual(others, [])
    assert.notInclude(JSON.stringify(item), "private words")
    assert.deepStrictEqual(await itemsAt("/chat/requests?connection=corp"), [])
    assert.strictEqual((await admin.call("GET", "/chat/requests?status=nothing", { token })).status, 400)
  })

  it("lists notices with their state, and why they wait or were refused", async () => {
    const about = {
      repository: "team/app",
      number: 7,
      eventId: "e1",
      events: 1,
      reason: verbatimReason("no model")
    } as const
    const [waiting, refused, sent] = [newId(), newId(), newId()]
    await admin.run(
      Effect.gen(function* () {
        const { add, move, takeOver } = yield* Notices
        const failed = { _tag: "review_failed", workspace: "app", runId: "r1", ...about } as const
        const silent = { _tag: "webhook_silent", trigger: "main", lastAt: 0, hours: 24 } as const
        yield* add([{ id: waiting, key: "1", channel: "ops", facts: failed }], 1000)
        yield* add([{ id: refused, key: "2", channel: "ops", facts: silent }], 1000)
        yield* add([{ id: sent, key: "2", channel: "team", facts: silent }], 1000)
        const sender = yield* takeOver
        const later = { status: "pending", notBefore: 9000, error: verbatimReason("busy"), isAttempt: true } as const
        yield* move(waiting, "pending", later, sender, 2000)
        yield* move(refused, "pending", { status: "failed", error: verbatimReason("no such group") }, sender, 2000)
        yield* move(sent, "pending", { status: "sending" }, sender, 2000)
        yield* move(sent, "sending", { status: "sent" }, sender, 3000)
      })
    )
    const items = await itemsAt("/chat/notices")
    assert.deepStrictEqual(
      items.map(({ id }) => id),
      [sent, refused, waiting]
    )
    assert.deepStrictEqual(items[2], {
      id: waiting,
      kind: "review_failed",
      channel: "ops",
      status: "pending",
      subject: "team/app #7",
      attempts: 1,
      next_attempt_at: "1970-01-01T00:00:09.000Z",
      reason: verbatimReason("busy"),
      workspace: "app",
      event_id: "e1",
      run_id: "r1",
      created_at: "1970-01-01T00:00:01.000Z",
      updated_at: "1970-01-01T00:00:02.000Z"
    })
    assert.deepInclude(items[1], { status: "failed", reason: verbatimReason("no such group"), subject: "main" })
    const idsOf = async (query: string) => (await itemsAt(`/chat/notices?${query}`)).map(({ id }) => id)
    assert.deepStrictEqual(await idsOf("status=sent"), [sent])
    assert.deepStrictEqual(await idsOf("kind=review_failed"), [waiting])
    assert.deepStrictEqual(await idsOf("channel=ops&sort=created"), [waiting, refused])
    assert.strictEqual((await admin.call("GET", "/chat/notices?kind=nothing", { token })).status, 400)
  })

  it("lists bindings", async () => {
    const items = await itemsAt("/chat/bindings")
    assert.deepInclude(
      items.find(({ id }) => id === "lark"),
      {
        enabled: true,
        connection: "lark",
        actors: ["feishu_open_id ou_ada"],
        repositories: ["app"]
      }
    )
  })
})
