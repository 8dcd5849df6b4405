/** Edits of the demo's configuration in the database, so that the page has a revision and a draft: a group of models, and a stricter review. */
import { Effect } from "effect"
import { adminPath } from "../src/admin/api/AdminHttpApi.ts"
import { listSockets } from "../src/app/AdminSocket.ts"
import { sendTo } from "../src/cli/AdminHttpClient.ts"
import type { Snapshot } from "../src/config/Snapshot.ts"
import type { DetectedModel } from "../src/llm/providers/Detect.ts"

/** Does nothing if the local socket is not served; its path may be too long for that. */
export const editConfiguration = Effect.fnUntraced(function* (snapshot: Snapshot, { model, provider }: DetectedModel) {
  const [socket] = listSockets(snapshot)
  if (socket === undefined) return
  const post = (path: string, body: object) =>
    sendTo({ socketPath: socket })({ method: "POST", path: `${adminPath}${path}`, body: JSON.stringify(body) })
  yield* post("/config/changesets", {
    base_revision: 0,
    operation_id: "demo-models",
    reason: "A group of models that workspaces can name",
    operations: [
      {
        op: "create",
        entity: { kind: "model_groups", name: "small" },
        value: [{ provider: provider.id, model }]
      }
    ]
  })
  yield* post("/config/drafts", {
    title: "Report only serious problems",
    base_revision: 1,
    operations: [{ op: "set", path: ["review", "min_severity"], value: "medium" }]
  })
})
