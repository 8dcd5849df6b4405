/** Deliveries about a pull request find the workspace of its branch, as the example with such a rule has it. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { afterEach, assert, describe, it } from "vitest"
import { parse } from "yaml"
import type { Ingress } from "./Ingress.ts"
import { deliver, eventOf, pullRequest, secret, startIngress } from "./Ingress.ts"

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
    assert.lengthOf(ingress.woken.commands, 1)
  })

  it("gives up what waits and ends what runs when one is closed", async () => {
    await start()
    await deliver(ingress, "pull_request", into("release/2", "opened"))
    const closed = await deliver(ingress, "pull_request", into("release/2", "closed"))
    assert.deepInclude(closed.body, { accepted: false, reason: "closed" })
    assert.deepStrictEqual(ingress.woken.closed, ["github:example/monolith:pull_request:7"])
    const record = await Effect.runPromise(ingress.receipts.get(eventOf(closed)))
    assert.deepInclude(record, { workspace: "services", targetKey: "github:example/monolith:pull_request:7" })
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
