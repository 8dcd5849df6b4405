/** Deliveries of a repository that was renamed after its first review: record, response and notice have both names. */
import { Context, Effect, Layer, Scope } from "effect"
import { afterEach, assert, it } from "vitest"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { Notices } from "../../src/store/Notices.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import { Statistics } from "../../src/store/Statistics.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { StoreError } from "../../src/database/StoreError.ts"
import { publishRun, settle } from "../store/EndedRuns.ts"
import type { Ingress } from "./Ingress.ts"
import { deliver, document, env, pullRequest, readEventId, startIngress } from "./Ingress.ts"

let ingress: Ingress
afterEach(() => ingress.stop())

const noticed = {
  ...document,
  outputs: {
    channels: [{ name: "ops", kind: "feishu_bot", webhook_url_env: "HOOK" }],
    notifications: { routes: [{ channels: ["ops"] }] }
  }
}
const hook = { ...env, HOOK: "https://chat.example/hook" }

const renamed = (id: number, repo = "acme/renamed") => {
  const payload = pullRequest({ repo })
  return { ...payload, repository: { ...payload.repository, id } }
}

const start = async (more: Partial<Statistics["Service"]> = {}) => {
  const records = await Layer.buildWithScope(Store.layerMemory, Scope.makeUnsafe()).pipe(Effect.runPromise)
  await Effect.runPromise(
    Effect.provide(
      Effect.flatMap(publishRun({ repo: "acme/app", trigger: "hub", hostId: 7 }), (run) => settle(run, 3000)),
      records
    )
  )
  const statistics = Statistics.of({ ...Context.get(records, Statistics), ...more })
  ingress = await startIngress({
    document: noticed,
    env: hook,
    records: Layer.succeedContext(Context.add(records, Statistics, statistics))
  })
  return records
}

it("the delivery has both names, and one notice is stored", async () => {
  const records = await start()
  for (const _ of [1, 2]) {
    const { body, status } = await deliver(ingress, "pull_request", renamed(7))
    assert.deepStrictEqual([status, body.reason], [202, "repository_renamed"])
    const record = await Effect.runPromise(Context.get(records, Receipts).get(readEventId({ body })))
    assert.deepInclude(record, { decision: "ignored", reason: "repository_renamed", repo: "acme/renamed" })
    const names = { before: "acme/app", repository: "acme/renamed" }
    assert.deepStrictEqual(record?.rule, { _tag: "RepositoryRenamed", ...names, workspace: "app" })
  }
  const notices = await Effect.runPromise(Context.get(records, Notices).list({ limit: 10 }))
  assert.deepStrictEqual(
    notices.map(({ facts }) => facts),
    [{ _tag: "repository_renamed", trigger: "hub", before: "acme/app", repository: "acme/renamed" }]
  )
})

it("another repository, and one of another host, has no workspace", async () => {
  await start()
  const other = await deliver(ingress, "pull_request", renamed(8))
  assert.strictEqual(other.body.reason, "repository_not_configured")
})

it("a delivery is stored without the earlier name if the store cannot be read", async () => {
  const error = new StoreError({
    reason: "unavailable",
    operation: "statistics.findRenamed",
    why: verbatimReason("down")
  })
  await start({ findRenamed: () => Effect.fail(error) })
  const { body, status } = await deliver(ingress, "pull_request", renamed(7))
  assert.deepStrictEqual([status, body.reason], [202, "repository_not_configured"])
})
