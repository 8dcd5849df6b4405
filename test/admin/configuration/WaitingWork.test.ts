/** The preview of an edit names the reviews that keep an older configuration, over real HTTP and a real queue. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { Queue } from "../../../src/queue/Queue.ts"
import { admission } from "../../queue/Admissions.ts"
import { startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

let admin: AdminServer
beforeAll(async () => {
  admin = await startAdmin({ database: true })
})
afterAll(() => admin.stop())

const ofWorkspace = (workspace: string, number: number) => {
  const item = admission({ number })
  return { ...item, change: { ...item.change, workspace } }
}

it("lists unfinished entries with their workspace and snapshot, those of changed workspaces first", async () => {
  const token = await admin.token()
  const preview = async (operation: object) => {
    const body = { base_revision: 0, operations: [operation] }
    return Object((await admin.call("POST", "/config/validate", { token, body })).body["blast_radius"])
  }
  const creation = {
    op: "create",
    entity: { kind: "workspaces", name: "new" },
    value: { source_repo: { trigger: "main", repo: "acme/new" } }
  }
  const [first, changed, last] = await admin.run(
    Queue.use((queue) => queue.admit([ofWorkspace("app", 1), ofWorkspace("new", 2), ofWorkspace("app", 3)]))
  )
  const { waiting, waiting_more } = await preview(creation)
  assert.strictEqual(waiting_more, false)
  const snapshot = admission().configHash
  assert.deepStrictEqual(
    waiting.map((one: { readonly id: string; readonly workspace: string; readonly snapshot: string }) => [
      one.id,
      one.workspace,
      one.snapshot
    ]),
    [
      [changed?.entryId, "new", snapshot],
      [first?.entryId, "app", snapshot],
      [last?.entryId, "app", snapshot]
    ]
  )
  const refused = await preview({ op: "delete", entity: { kind: "triggers", name: "main" } })
  assert.deepInclude(refused, { waiting: [], waiting_more: false })
})
