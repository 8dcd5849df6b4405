/** Webhooks of a trigger over real HTTP: what the inventory found, and their set-up by hand, which `aicr setup` requests. */
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { CatchUps } from "../../../src/store/CatchUps.ts"
import { Inventories } from "../../../src/store/Inventories.ts"
import { addHook, getHooks } from "../../harness/FakeHooks.ts"
import { startFakeForge } from "../../harness/FakeForge.ts"
import type { FakeForge } from "../../harness/FakeForge.ts"
import { password, startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

const url = "https://aicr.test/webhooks/gitea"
const events = ["pull_request", "pull_request_sync", "pull_request_comment", "issue_comment"]
let forge: FakeForge
let admin: AdminServer
let token: unknown

beforeAll(async () => {
  forge = await startFakeForge("gitea")
  for (const name of ["acme/app", "acme/rest", "acme/unreviewed"]) await forge.createRepository(name)
  admin = await startAdmin({
    document: {
      server: { base_url: "https://aicr.test" },
      triggers: [
        { name: "main", kind: "gitea", base_url: forge.url, webhook_secret_env: "SECRET", token_env: "TOKEN" },
        { name: "bare", kind: "gitea", base_url: forge.url }
      ],
      workspaces: {
        instances: {
          app: { source_repo: { trigger: "main", repo: "acme/app" } },
          rest: { match: [{ triggers: ["main"], source: { repo_ref: { exact: "acme/rest" } } }] }
        }
      }
    },
    env: { SVC_ADMIN_USERNAME: "root", SVC_ADMIN_PASSWORD: password, SECRET: "s", TOKEN: forge.token }
  })
  token = await admin.token()
})
afterAll(async () => {
  await admin.stop()
  forge.expectContract()
  await forge.stop()
})

const setUp = (target: string, apply = false) =>
  admin.call("POST", "/triggers/main/setup", { token, body: { target, apply } })
const itemsOf = ({ body }: Awaited<ReturnType<typeof setUp>>): ReadonlyArray<unknown> => {
  const { items } = body
  assert(Array.isArray(items), JSON.stringify(body))
  return items
}
const may = (name: string) => Object.assign(getHooks(forge, name), { mayList: true, mayWrite: true })

describe("the set-up of webhooks", () => {
  it("returns what it would do, does it, and stores it", async () => {
    // The search of the start has ended.
    const search = { occasion: "start", found: 0, skipped: 0, failure: undefined } as const
    const at = Date.now() + 60_000
    await admin.run(Effect.flatMap(CatchUps, ({ searched }) => searched("main", { ...search, startedAt: at, at })))
    may("acme/app")
    addHook(may("acme/rest"), { url, events: ["push"] })
    const planned = [
      {
        scope: "repository:acme/app",
        name: "acme/app",
        state: "missing",
        action: "create",
        problem: { _tag: "NoWebhook", url: { _tag: "Text", text: url } }
      },
      {
        scope: "repository:acme/rest",
        name: "acme/rest",
        state: "broken",
        action: "repair",
        problem: { _tag: "WebhookLacksEvents", events }
      }
    ]
    assert.deepStrictEqual(itemsOf(await setUp("acme")), planned)
    assert.strictEqual(forge.writes().length, 0)
    assert.deepStrictEqual(itemsOf(await setUp("acme/app", true)), [
      { scope: "repository:acme/app", name: "acme/app", state: "complete", action: "create" }
    ])
    assert.deepStrictEqual(
      itemsOf(await setUp("acme", true)).map((item) => Object(item).action),
      [undefined, "repair"]
    )
    assert.deepStrictEqual(
      getHooks(forge, "acme/app").hooks.map(({ secret }) => secret),
      ["s"]
    )
    assert.strictEqual(getHooks(forge, "acme/unreviewed").hooks.length, 0)
    const { requested, rows } = await admin.run(
      Effect.gen(function* () {
        const state = (yield* (yield* CatchUps).list).find(({ trigger }) => trigger === "main")
        return { requested: state?.requestedFor, rows: yield* (yield* Inventories).hooks("main") }
      })
    )
    assert.deepStrictEqual([requested, rows.map(({ state }) => state)], ["hook", ["complete", "complete"]])
  })

  it("returns what a person has to enter where the credential may not write", async () => {
    Object.assign(getHooks(forge, "acme/app"), { mayWrite: false }).hooks.length = 0
    const { body } = await setUp("acme/app", true)
    const [item] = itemsOf(await setUp("acme/app", true))
    assert.deepInclude(Object(item), { state: "missing" })
    assert.notProperty(item, "action")
    assert.deepStrictEqual(body["by_hand"], {
      place: "Repository → Settings → Webhooks → Add Webhook → Gitea",
      owner_place: "Organization → Settings → Webhooks → Add Webhook → Gitea",
      url,
      content_type: "POST, application/json",
      events: ["Pull Request", "Pull Request Synchronized", "Pull Request Comment", "Issue Comment"],
      rights: { _tag: "RepositoryAdministrator" }
    })
  })

  it("is refused for other targets and triggers, and while the inventory writes", async () => {
    assert.strictEqual((await setUp("acme/unreviewed")).status, 404)
    assert.strictEqual((await setUp("nobody")).status, 404)
    const bare = await admin.call("POST", "/triggers/bare/setup", { token, body: { target: "acme", apply: false } })
    assert.deepStrictEqual([bare.status, bare.body["code"]], [409, "no_inventory"])
    await admin.run(Effect.flatMap(Inventories, ({ hold }) => hold("main", "inventory", Date.now())))
    const busy = await setUp("acme/app", true)
    assert.deepStrictEqual([busy.status, busy.body["code"]], [409, "host_failed"])
    assert.strictEqual((await setUp("acme/app")).status, 200)
  })
})

describe("the inventory of a trigger", () => {
  it("lists what is not complete, is counted by trigger, and is checked on request", async () => {
    const common = { trigger: "main", wanted: "w", checkedAt: Date.now() }
    const problem = { _tag: "WebhookInactive" } as const
    await admin.run(
      Effect.flatMap(Inventories, ({ save }) =>
        save([{ ...common, scope: "repository:acme/app", name: "acme/app", state: "broken", problem }], {
          startedAt: common.checkedAt,
          created: 0,
          repaired: 0
        })
      )
    )
    const { body } = await admin.call("GET", "/triggers/main/inventory", { token })
    assert.deepStrictEqual(body["items"], [
      {
        scope: "repository:acme/app",
        name: "acme/app",
        state: "broken",
        problem,
        checked_at: new Date(common.checkedAt).toISOString()
      }
    ])
    const requested = await admin.call("POST", "/triggers/main/inventory", { token })
    const triggers = await admin.call("GET", "/triggers", { token })
    const { items } = triggers.body
    assert(Array.isArray(items))
    const { inventory } = Object(items.find((one) => Object(one).name === "main"))
    assert.deepInclude(inventory, { complete: 1, broken: 1, created: 1, repaired: 1 })
    assert.strictEqual(inventory.requested_at, requested.body["requested_at"])
  })
})
