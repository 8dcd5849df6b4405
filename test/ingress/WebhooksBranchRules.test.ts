/** Deliveries about a pull request find the workspace of its branch, with the rules of the example. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import { parse } from "yaml"
import { TargetKey } from "../../src/domain/Keys.ts"
import type { Ingress } from "./Ingress.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { freshDatabase, postgresAt } from "../store/Databases.ts"
import { temporaryFolder } from "../vcs/Repository.ts"
import { deliver, readEventId, hmac, pullRequest, secret, startIngress } from "./Ingress.ts"

let ingress: Ingress
afterEach(() => ingress.stop())

const start = async () => {
  const example: unknown = parse(readFileSync(join(import.meta.dirname, "../../examples/github-app.yaml"), "utf8"))
  const env = {
    SVC_GITHUB_APP_WEBHOOK_SECRET: secret,
    SVC_GITHUB_APP_PRIVATE_KEY: "key",
    SVC_ANTHROPIC_KEY: "key",
    SVC_OPENAI_KEY: "key"
  }
  ingress = await startIngress({ document: example, env })
}

const repo = "example/monolith"
const into = (ref: string, action: string) =>
  pullRequest({ action, repo, pull: { base: { sha: "b".repeat(40), ref } } })
const comment = (body: string, name = repo) => ({
  action: "created",
  repository: { full_name: name },
  sender: { login: "ada" },
  issue: { number: 7, title: "Add a thing", pull_request: {} },
  comment: { body }
})

describe("a workspace whose rule names a branch", () => {
  it("takes the comments on its pull requests", async () => {
    await start()
    const opened = await deliver(ingress, "pull_request", into("release/2", "opened"))
    assert.deepInclude(opened.body, { accepted: true, workspace: "services", status: "queued" })
    const asked = await deliver(ingress, "issue_comment", comment("/aicr review"))
    assert.deepInclude(asked.body, { accepted: true, workspace: "services", status: "coalesced" })
    const helped = await deliver(ingress, "issue_comment", comment("/aicr help"))
    assert.deepInclude(helped.body, { accepted: true, workspace: "services", status: "queued" })
    assert.deepStrictEqual(
      ingress.woken.commands.map(({ command }) => command),
      ["review", "help"]
    )
  })

  it("gives up what waits and ends what runs when one is closed", async () => {
    await start()
    await deliver(ingress, "pull_request", into("release/2", "opened"))
    const closed = await deliver(ingress, "pull_request", into("release/2", "closed"))
    assert.deepInclude(closed.body, { accepted: false, reason: "closed" })
    assert.deepStrictEqual(ingress.woken.closed, ["github:example/monolith:pull_request:7"])
    const record = await Effect.runPromise(ingress.receipts.get(readEventId(closed)))
    assert.deepInclude(record, {
      workspace: "services",
      targetKey: TargetKey.make("github:example/monolith:pull_request:7")
    })
  })

  it("does not take those of other branches and repositories", async () => {
    await start()
    const answers = [
      await deliver(ingress, "pull_request", into("main", "opened")),
      await deliver(ingress, "pull_request", into("main", "closed")),
      await deliver(ingress, "issue_comment", comment("/review", "example/elsewhere"))
    ]
    for (const { body } of answers) assert.deepInclude(body, { accepted: false, reason: "repository_not_configured" })
  })
})

const rule = (source: object) => ({ match: [{ source: { repo_ref: { exact: repo }, ...source } }] })
/** Two workspaces by branch; deliveries without a known branch go to the first. */
const byBranch = {
  triggers: [
    { name: "hub", kind: "github", webhook_secret_env: "SECRET" },
    { name: "mirror", kind: "github", base_url: "https://mirror.test", webhook_secret_env: "OTHER_SECRET" }
  ],
  workspaces: {
    instances: {
      main: { ...rule({ branch: { exact: "main" } }), review: { comment_commands: false } },
      releases: rule({ ref: { glob: "refs/heads/release/*" } })
    }
  }
}

const stores: ReadonlyArray<readonly [string, () => Promise<() => Layer.Layer<Store.Records, unknown>>]> = [
  [
    "SQLite",
    async () => {
      const path = join(temporaryFolder(), "aicr.db")
      return () => Layer.fresh(Store.layerSqlite({ path, migrate: "auto" }))
    }
  ],
  [
    "Postgres",
    async () => {
      const url = await freshDatabase()
      return () => Layer.fresh(postgresAt(url))
    }
  ]
]

describe.each(stores)("a delivery that does not name the branch of its pull request, over %s", (_, makeStore) => {
  const startOver = async (records: () => Layer.Layer<Store.Records, unknown>) => {
    ingress = await startIngress({ document: byBranch, records: records() })
  }
  const review = async (text = "/aicr review") => (await deliver(ingress, "issue_comment", comment(text))).body
  const bound = (workspace: string) => ({ accepted: true, workspace })
  const unbound = { accepted: false, reason: "repository_not_configured" }

  it("goes to the workspace of the branch that an earlier delivery named, also after a restart", async () => {
    const store = await makeStore()
    await startOver(store)
    await deliver(ingress, "pull_request", into("release/2", "opened"))
    assert.deepInclude(await review(), bound("releases"))
    const helped = await review("/aicr help")
    assert.deepInclude(helped, bound("releases"))
    const record = await Effect.runPromise(ingress.receipts.get(helped.event_id ?? ""))
    assert.deepInclude(record?.work?.change, { workspace: "releases", baseRef: "release/2" })
    await ingress.stop()
    await startOver(store)
    assert.deepInclude(await review(), bound("releases"))
  })

  it("is refused where the settings of that workspace refuse it", async () => {
    await startOver(await makeStore())
    await deliver(ingress, "pull_request", into("main", "opened"))
    assert.deepInclude(await review(), { accepted: false, reason: "unsupported_action" })
  })

  it("follows a change of the branch, and learns from deliveries that start no review", async () => {
    await startOver(await makeStore())
    await deliver(ingress, "pull_request", into("main", "opened"))
    const draft = { base: { sha: "b".repeat(40), ref: "release/3" }, draft: true }
    const edited = { ...pullRequest({ action: "edited", repo, pull: draft }), changes: { base: {} } }
    assert.deepInclude((await deliver(ingress, "pull_request", edited)).body, { accepted: false, reason: "draft" })
    assert.deepInclude(await review(), bound("releases"))
  })

  it("learns nothing from a delivery that comes again", async () => {
    await startOver(await makeStore())
    const once = { "x-github-delivery": "once" }
    await deliver(ingress, "pull_request", into("main", "opened"), once)
    await deliver(ingress, "pull_request", into("release/2", "synchronize"))
    const again = await deliver(ingress, "pull_request", into("main", "opened"), once)
    assert.deepInclude(again.body, { status: "duplicate" })
    assert.deepInclude(await review(), bound("releases"))
  })

  it("is ignored where no workspace has the branch", async () => {
    await startOver(await makeStore())
    assert.deepInclude((await deliver(ingress, "pull_request", into("topic", "opened"))).body, unbound)
    assert.deepInclude(await review(), unbound)
  })

  it("ignores a repository with the same name at another trigger's host", async () => {
    await startOver(await makeStore())
    const other = { "x-hub-signature-256": `sha256=${hmac(JSON.stringify(into("topic", "opened")), "another")}` }
    await deliver(ingress, "pull_request", into("release/2", "opened"))
    assert.deepInclude((await deliver(ingress, "pull_request", into("topic", "opened"), other)).body, unbound)
    assert.deepInclude(await review(), bound("releases"))
  })

  it("closes under the workspace of the branch", async () => {
    await startOver(await makeStore())
    await deliver(ingress, "pull_request", into("release/2", "opened"))
    const { body } = await deliver(
      ingress,
      "pull_request",
      pullRequest({ action: "closed", repo, pull: { base: undefined } })
    )
    assert.deepInclude(body, { accepted: false, reason: "closed" })
    const record = await Effect.runPromise(ingress.receipts.get(body.event_id ?? ""))
    assert.deepInclude(record, { workspace: "releases" })
  })

  it("is accepted for the review to query the host where no delivery named the branch", async () => {
    const instances = { next: rule({ branch: { exact: "next" } }), ...byBranch.workspaces.instances }
    const store = await makeStore()
    ingress = await startIngress({ document: { ...byBranch, workspaces: { instances } }, records: store() })
    assert.deepInclude(await review(), bound("next"))
  })
})
