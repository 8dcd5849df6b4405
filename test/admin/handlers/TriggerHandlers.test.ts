/** Set-up of triggers and projects over real HTTP. */
import { createServer } from "node:http"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { newId } from "../../../src/domain/Ids.ts"
import { CatchUps } from "../../../src/store/CatchUps.ts"
import { Outbox } from "../../../src/store/Outbox.ts"
import { Receipts } from "../../../src/store/Receipts.ts"
import { RejectedSignatures } from "../../../src/store/RejectedSignatures.ts"
import { publishRun, settle } from "../../store/EndedRuns.ts"
import { event, ignored, publication } from "../../store/Fixtures.ts"
import { password, startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"
import { inEnglish } from "../../../src/text/en.ts"

/** Responds at the public address of the service. */
const address = createServer((request, response) => {
  response.writeHead(request.url === "/aicr/healthz" ? 200 : 404).end()
})
let admin: AdminServer
let token: unknown
beforeAll(async () => {
  await new Promise<void>((resolve) => address.listen(0, "127.0.0.1", resolve))
  const at = address.address()
  const port = typeof at === "object" ? at?.port : undefined
  admin = await startAdmin({
    document: {
      server: {
        base_url: `http://127.0.0.1:${port}`,
        path_prefix: "/aicr/",
        auth: { enabled: true, api_key_env: "API_KEY" }
      },
      triggers: [
        {
          name: "main",
          kind: "gitea",
          base_url: "http://127.0.0.1:9",
          webhook_secret_env: "SECRET",
          token_env: "TOKEN"
        },
        { name: "depot", kind: "perforce", port: "ssl:p4.test:1666", enabled: false },
        { name: "open", kind: "github" },
        { name: "nightly", kind: "scheduled", cron: "0 3 * * *", repositories: [{ repo: "acme/app", branch: "main" }] }
      ],
      workspaces: {
        instances: {
          app: { source_repo: { trigger: "main", repo: "acme/app" } },
          rest: { match: [{ triggers: ["main"], source: { repo_ref: { exact: "acme/rest" } } }] }
        }
      }
    },
    env: { SVC_ADMIN_USERNAME: "root", SVC_ADMIN_PASSWORD: password, SECRET: "s", TOKEN: "t", API_KEY: "k" }
  })
  token = await admin.token()
})
afterAll(async () => {
  await admin.stop()
  address.close()
})

const get = (path: string) => admin.call("GET", path, { token })
const itemsAt = async (path: string): Promise<ReadonlyArray<Record<string, unknown>>> => {
  const { items } = (await get(path)).body
  assert(Array.isArray(items), path)
  return items.map((item) => Object(item))
}

describe("triggers", () => {
  it("name what is set, what uses them, and what they received", async () => {
    const now = Date.now()
    const hour = 3_600_000
    await admin.run(
      Effect.gen(function* () {
        yield* (yield* Receipts).storeAll([
          event({ receivedAt: now - 48 * hour }),
          ignored({ receivedAt: now - hour }),
          ignored({ receivedAt: now - 2 * hour }),
          // Found by a search: no delivery.
          event({ receivedAt: now, event: "catch_up" })
        ])
        const error = { _tag: "AwaitsCredential", trigger: "main", why: { _tag: "CheckCredential" } } as const
        yield* (yield* Outbox).add(
          [{ error }, { error }, { error: error.why }, {}].map((more) => ({ ...publication({}), ...more })),
          now
        )
        const { searched } = yield* CatchUps
        const search = { occasion: "beat", skipped: 0, failure: undefined } as const
        yield* searched("main", { ...search, startedAt: now - hour, at: now - hour, found: 0 })
        const failure = { _tag: "TriggerUnknown", trigger: "main" } as const
        yield* searched("main", { ...search, startedAt: now, at: now, found: 3, skipped: 2, failure })
        const counts = { loopback: 1, private: 2, public: 4 }
        yield* (yield* RejectedSignatures).add([
          { hour: now - (now % hour), trigger: "main", provider: "gitea", counts, lastAt: now }
        ])
      })
    )
    const [depot, main, nightly, open] = await itemsAt("/triggers")
    assert.deepStrictEqual(main, {
      name: "main",
      kind: "gitea",
      enabled: true,
      path: "/aicr/webhooks/gitea",
      base_url: "http://127.0.0.1:9",
      workspaces: 2,
      secret: "set",
      token: "set",
      last_delivery_at: new Date(now - hour).toISOString(),
      last_accepted_at: new Date(now - 48 * hour).toISOString(),
      deliveries_24h: 2,
      ignored_24h: 2,
      rejected_signatures_24h: 7,
      waiting_publications: 2,
      catch_up: {
        last_at: new Date(now).toISOString(),
        occasion: "beat",
        found: 3,
        found_at: new Date(now).toISOString(),
        found_since: new Date(now - hour).toISOString(),
        found_for: "beat",
        skipped: 2,
        failure: { _tag: "TriggerUnknown", trigger: "main" }
      },
      inventory: {
        repositories: 0,
        served: 0,
        complete: 0,
        missing: 0,
        broken: 0,
        unreadable: 0,
        created: 0,
        repaired: 0
      }
    })
    assert.deepInclude(depot, { enabled: false, path: "/aicr/triggers/p4", secret: "set", token: "missing" })
    assert.deepInclude(open, { secret: "missing", token: "missing", workspaces: 0, deliveries_24h: 0 })
    assert.deepInclude(nightly, { secret: "not_used", token: "not_used" })
    assert.notProperty(nightly, "path")
    assert.notProperty(nightly, "catch_up")
    assert.notProperty(open, "catch_up")
    assert.notProperty(open, "inventory")
  })

  it("are searched for changes without a delivery on request, if they can have some", async () => {
    const requested = await admin.call("POST", "/triggers/main/catch-up", { token })
    assert.strictEqual(requested.status, 200)
    const [, main] = await itemsAt("/triggers")
    assert.deepInclude(Object(main?.["catch_up"]), { requested_at: requested.body["requested_at"] })
    const found = await admin.run(Effect.flatMap(CatchUps, ({ list }) => list))
    assert.deepInclude(
      found.find(({ trigger }) => trigger === "main"),
      { requestedFor: "requested" }
    )
    for (const name of ["depot", "nightly", "open"]) {
      const refused = await admin.call("POST", `/triggers/${name}/catch-up`, { token })
      assert.deepInclude(refused.body, { status: 409, code: "not_searched" })
    }
    assert.strictEqual((await admin.call("POST", "/triggers/none/catch-up", { token })).status, 404)
  })
})

describe("the check of a trigger", () => {
  const check = (name: string) => admin.call("POST", `/triggers/${name}/check`, { token })
  const checksOf = ({ body }: { readonly body: Record<string, unknown> }) => {
    assert(Array.isArray(body["items"]), JSON.stringify(body))
    return body["items"].map((item) => [item.check, item.level, inEnglish(item.reason)])
  }

  it("names what is missing, what the host refuses and whether the public address responds", async () => {
    assert.deepStrictEqual(
      checksOf(await check("main")).map(([part, level]) => [part, level]),
      [
        ["setup", "ok"],
        ["host", "error"],
        ["address", "ok"]
      ]
    )
    const open = checksOf(await check("open"))
    assert.deepStrictEqual(
      open.map(([part, level]) => `${part} ${level}`),
      ["setup warning", "setup error", "setup warning", "address ok"]
    )
    assert.match(String(open[0]?.[2]), /webhook_secret_env/)
    const [disabled] = checksOf(await check("depot"))
    assert.match(String(disabled?.[2]), /enabled: false/)
    assert.deepStrictEqual(checksOf(await check("nightly"))[0]?.slice(0, 2), ["setup", "warning"])
  })

  it("is made once per trigger and ten seconds, and is on record", async () => {
    const again = await check("main")
    assert.deepInclude(again.body, { status: 429, code: "check_throttled" })
    assert.strictEqual(again.headers.get("retry-after"), String(again.body["retry_after"]))
    assert.strictEqual((await check("unknown")).status, 404)
    const [unknown, throttled] = await itemsAt("/audit?action=triggers.check")
    assert.deepInclude(unknown, { outcome: "not_found", target: "/triggers/unknown/check" })
    assert.deepInclude(throttled, { outcome: "check_throttled" })
  })
})

describe("projects", () => {
  it("are listed, deleted with the name of the user, and restored", async () => {
    await admin.run(Effect.flatMap(publishRun({ repo: "acme/gone" }), (id) => settle(id, 5000)))
    const [project] = await itemsAt("/projects?repo=acme/gone")
    const id = String(project?.["id"])
    assert.deepInclude(project, { workspace: "app", trigger: "main", repository: "acme/gone" })
    const removed = await admin.call("DELETE", `/projects/${id}`, { token })
    assert.deepInclude(removed.body, { id, deleted_by: "root" })
    assert.deepStrictEqual(
      (await itemsAt("/projects?deleted=true")).map((one) => one["id"]),
      [id]
    )
    const restored = await admin.call("POST", `/projects/${id}/restore`, { token })
    assert.strictEqual(restored.status, 200)
    assert.lengthOf(await itemsAt("/projects?deleted=true"), 0)
    assert.strictEqual((await admin.call("DELETE", `/projects/${newId()}`, { token })).status, 404)
    assert.strictEqual((await admin.call("POST", `/projects/${newId()}/restore`, { token })).status, 404)
  })
})
