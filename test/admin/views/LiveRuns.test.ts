/** Events of running reviews, over a real HTTP server. */
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { liveView } from "../../../src/admin/views/LiveRuns.ts"
import { TargetKey } from "../../../src/domain/Keys.ts"
import { Progress } from "../../../src/observability/Progress.ts"
import { waitUntil } from "../../harness/Wait.ts"
import { startAdmin } from "../AdminServer.ts"
import type { AdminServer } from "../AdminServer.ts"

const about = { workspace: "app", targetKey: TargetKey.make("main:acme/app:pull_request:1"), runId: "run-1" }

let admin: AdminServer
beforeEach(async () => {
  admin = await startAdmin()
})
afterEach(() => admin.stop())

/** Follows the events; `text` returns what arrived. */
const follow = async () => {
  const token = await admin.token()
  const response = await fetch(`${admin.url}/api/admin/runs/live`, {
    headers: { authorization: `Bearer ${String(token)}` }
  })
  let text = ""
  const read = async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true })
  }
  const reading = read().then(
    () => "clean" as const,
    () => "broken" as const
  )
  return { response, text: () => text, reading }
}

describe("live runs", () => {
  it("are server-sent events that begin with a heartbeat", async () => {
    const { response, text } = await follow()
    assert.strictEqual(response.status, 200)
    assert.match(response.headers.get("content-type") ?? "", /^text\/event-stream/)
    assert.isString(response.headers.get("x-request-id"))
    await waitUntil(() => Promise.resolve(/data: ?\{"type":"heartbeat"/.test(text())), { describe: text })
    await waitUntil(
      async () => {
        await admin.run(Progress.use(({ publish }) => publish({ _tag: "Started", ...about, head: "abc" })))
        return /data: ?\{"type":"started".*"run_id":"run-1"/.test(text())
      },
      { describe: text }
    )
  })

  it("end when the server stops", async () => {
    const { reading } = await follow()
    await admin.stop()
    assert.strictEqual(await reading, "clean")
  })

  it("need a session", async () => {
    const { status } = await admin.call("GET", "/runs/live")
    assert.strictEqual(status, 401)
  })
})

it("findings are not part of events", () => {
  const event = { _tag: "Analysed", ...about, at: 0, problems: 2, findings: [], models: ["a/b"] } as const
  assert.deepStrictEqual(liveView(event), {
    type: "analysed",
    at: "1970-01-01T00:00:00.000Z",
    workspace: "app",
    target_key: about.targetKey,
    run_id: "run-1",
    problems: 2,
    models: ["a/b"]
  })
})
