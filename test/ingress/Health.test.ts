/** Readiness of a server whose stores fail for one write. */
import { Effect, Layer } from "effect"
import { afterEach, assert, expect, it } from "vitest"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { StoreError } from "../../src/database/StoreError.ts"
import { Receipts } from "../../src/store/Receipts.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import type { Ingress } from "./Ingress.ts"
import { deliver, document, pullRequest, startIngress } from "./Ingress.ts"

let ingress: Ingress
afterEach(() => ingress.stop())

const diskFull = Effect.fail(
  new StoreError({ reason: "unavailable", operation: "receipts.store", why: verbatimReason("disk is full") })
)

/** Records whose writes fail while `isFull` returns true; reads succeed. */
const records = (isFull: () => boolean) =>
  Layer.effect(
    Receipts,
    Effect.map(Receipts, (receipts) => {
      const unlessFull = <A, E>(effect: Effect.Effect<A, E>) =>
        Effect.suspend((): Effect.Effect<A, E | StoreError> => (isFull() ? diskFull : effect))
      return Receipts.of({
        ...receipts,
        storeAll: (given) => unlessFull(receipts.storeAll(given)),
        probe: unlessFull(receipts.probe)
      })
    })
  ).pipe(Layer.provide(Layer.fresh(Store.layerMemory)), Layer.orDie)

const onPostgres = {
  document: { ...document, storage: { database: { kind: "postgres", postgres: { url_env: "POSTGRES" } } } },
  env: { POSTGRES: "postgres://localhost/aicr" }
}

it.each([
  ["in a server, ready as soon as one write succeeds", onPostgres, 200],
  ["in a file, not ready after a small write, because a full disk may take it", {}, 503]
])("with records %s", async (_, settings, status) => {
  let isFull = true
  ingress = await startIngress({ ...settings, receipts: records(() => isFull) })
  assert.strictEqual((await deliver(ingress, "pull_request", pullRequest())).status, 503)
  isFull = false
  assert.strictEqual((await fetch(`${ingress.url}/readyz`)).status, status)
  assert.strictEqual((await deliver(ingress, "pull_request", pullRequest())).status, 202)
})

const nodeOf = (name: string, version: string) => ({
  name,
  roles: ["ingress"],
  needs: ["ingress", "executor"],
  refusedTemplates: [],
  version,
  configuration: "0123456789ab"
})
const worker = { ...nodeOf("c", "1.0.0"), roles: ["executor"] }

it.each([
  ["of one version", [nodeOf("a", "1.0.0"), worker], undefined],
  ["of two versions", [nodeOf("a", "1.0.0"), nodeOf("b", "1.1.0"), worker], [{ _tag: "VersionsDiffer" }]],
  ["without an executor", [nodeOf("a", "1.0.0")], [{ _tag: "RoleUnserved", role: "executor" }]]
])("shows nodes %s, and is ready", async (_, nodes, warnings) => {
  ingress = await startIngress({ nodes: Effect.succeed(nodes) })
  const response = await fetch(`${ingress.url}/readyz`)
  expect([response.status, await response.json()]).toEqual([
    200,
    {
      status: "ready",
      nodes: nodes.map(({ needs: _needs, refusedTemplates: _templates, ...shown }) => shown),
      ...(warnings && { warnings })
    }
  ])
})

it("shows no nodes while they cannot be listed", async () => {
  ingress = await startIngress({ nodes: Effect.fail("unavailable") })
  expect(await (await fetch(`${ingress.url}/readyz`)).json()).toEqual({ status: "ready" })
})

it("reports the store while no write succeeds, although reads do", async () => {
  ingress = await startIngress({ receipts: records(() => true) })
  assert.strictEqual((await deliver(ingress, "pull_request", pullRequest())).status, 503)
  const response = await fetch(`${ingress.url}/readyz`)
  const body: unknown = await response.json()
  assert.deepStrictEqual([response.status, Object(body).not_ready], [503, ["store"]])
})
