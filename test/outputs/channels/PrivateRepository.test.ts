/** A repository gets findings that only maintainers may read only where its host calls it private. */
import { Effect } from "effect"
import { expect, it } from "vitest"
import type { Operation } from "../../../src/domain/Publication.ts"
import { checkPrivateRepository, writesIssues } from "../../../src/outputs/channels/PrivateRepository.ts"
import { MemoryConversations } from "../../harness/MemoryConversations.ts"
import { change } from "../Fixtures.ts"

const create: Operation = { _tag: "Issue", action: "create", files: [] }
const scan: Operation = {
  _tag: "Issues",
  head: "h",
  scope: "s",
  mode: "per_problem",
  title: "",
  problems: [],
  present: []
}
const message: Operation = { _tag: "Chat", head: "h", title: "", body: "" }

const check = (isPrivate: boolean | undefined) => {
  const conversations = new MemoryConversations()
  conversations.isPrivate = isPrivate
  const client = Effect.succeed({ conversations: conversations.service })
  const context = { change, channel: { name: "ops" }, client }
  return Effect.runPromise(
    checkPrivateRepository(context).pipe(
      Effect.as("allowed"),
      Effect.catch((error) => Effect.succeed(error.message))
    )
  )
}

it("a repository is written to where the host calls it private, and refused elsewhere", async () => {
  expect(await check(true)).toBe("allowed")
  for (const word of [false, undefined]) expect(await check(word)).toContain(change.repo.fullName)
})

it("only issues are written to a repository", () => {
  expect([create, scan, message].map(writesIssues)).toEqual([true, true, false])
})
