/** Titles of the issues that a pull request closes, as the host returns them. */
import { Effect, Logger } from "effect"
import { expect, it } from "vitest"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { readLinkedIssues } from "../../../actors/review/ReadLinkedIssues.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { ForgeError } from "../../../src/forge/ForgeError.ts"
import type { ReadIssue } from "../../../src/forge/Forge.ts"

const change: Change = {
  provider: "gitlab",
  trigger: "hub",
  workspace: "app",
  repo: { fullName: "acme/app" },
  target: { kind: "pull_request", number: 1 },
  description: "Fixes #1, fixes #2, fixes #3"
}

const issues: ReadonlyMap<number, ReadIssue> = new Map([
  [1, { title: "It crashes", body: "", state: "open", labels: [] }],
  [2, { title: "The key is in the log", body: "", state: "open", labels: [], confidential: true }]
])

const read = (of: Change) => {
  const requested: Array<number> = []
  const missing = new ForgeError({
    reason: "not_found",
    operation: "GET /issues",
    why: verbatimReason("no such issue")
  })
  const client = {
    issues: {
      list: () => Effect.die("unexpected"),
      create: () => Effect.die("unexpected"),
      edit: () => Effect.die("unexpected"),
      remove: () => Effect.die("unexpected"),
      read: (_: Change["repo"], number: number) => {
        requested.push(number)
        const issue = issues.get(number)
        return issue === undefined ? Effect.fail(missing) : Effect.succeed(issue)
      }
    }
  }
  return Effect.map(readLinkedIssues(of, client), (found) => ({ requested, found })).pipe(
    Effect.provide(Logger.layer([])),
    Effect.runPromise
  )
}

it("confidential and missing issues are omitted", async () => {
  expect(await read(change)).toEqual({ requested: [1, 2, 3], found: [{ number: 1, title: "It crashes" }] })
})

it("a push closes no issue", async () => {
  expect(await read({ ...change, target: { kind: "commit" } })).toEqual({ requested: [], found: [] })
})
