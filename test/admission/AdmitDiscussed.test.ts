/** Admission of comments that may expect a reply, as a table over one configuration. */
import { Effect } from "effect"
import { assert, describe, it } from "vitest"
import { admit } from "../../src/admission/Admit.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import { targetKey, discussedKey } from "../../src/domain/Change.ts"
import { Priority } from "../../src/domain/Entry.ts"
import { noSubject } from "../../src/domain/HostEvent.ts"
import type { HostEvent } from "../../src/domain/HostEvent.ts"

const now = Date.parse("2026-03-04T12:00:00Z")

type Discussed = Extract<HostEvent, { readonly _tag: "Discussed" }>

const discussed = (over: Partial<Discussed> = {}): Discussed => ({
  _tag: "Discussed",
  provider: "gitea",
  event: "issue_comment",
  action: "created",
  repo: { fullName: "Acme/App" },
  sender: { username: "ada" },
  subject: noSubject,
  number: 7,
  comment: { id: "c1", on: "pull_request", kind: "general" },
  body: "why is that?",
  isReply: true,
  baseRef: "main",
  title: "Add",
  url: undefined,
  ...over
})

const snapshotWith = (review: unknown) =>
  Effect.runPromise(
    toSnapshot(
      {
        triggers: [{ name: "tea", kind: "gitea", webhook_secret: "x", base_url: "https://git.test" }],
        workspaces: { instances: { app: { source_repo: { trigger: "tea", repo: "acme/app" }, review } } }
      },
      {}
    )
  )

const decide = async (event: HostEvent, review: unknown = {}, own: string | undefined = "aicr") => {
  const snapshot = await snapshotWith(review)
  return admit({ snapshot, verified: snapshot.triggersOfKind("gitea"), event, ownAccount: () => own, now })
}

describe("admission of comments", () => {
  const cases: ReadonlyArray<readonly [string, Partial<Discussed>, unknown, string | undefined]> = [
    ["a reply in a thread", {}, {}, undefined],
    ["a mention elsewhere", { isReply: false, body: "@aicr why?" }, {}, undefined],
    ["a question elsewhere", { isReply: false, body: "/aicr ask why?" }, {}, undefined],
    ["a comment elsewhere", { isReply: false }, {}, "NotAddressed"],
    ["a reply to somebody else", { body: "@bob look" }, {}, "AddressesOthers"],
    ["a comment of an app", { sender: { username: "renovate[bot]" } }, {}, "CommentOfBot"],
    ["a comment of nobody", { sender: undefined }, {}, "WriterUnnamed"],
    ["a comment of the service", { sender: { username: "AICR" } }, {}, "OwnAccount"],
    ["a comment where commands are off", {}, { comment_commands: false }, "CommentCommandsOff"],
    [
      "a comment where review.conversation.enabled is false",
      {},
      { conversation: { enabled: false } },
      "ConversationOff"
    ]
  ]
  it.each(cases)("%s", async (_, over, review, refused) => {
    const admitted = await decide(discussed(over), review)
    assert.strictEqual(admitted.accepted, refused === undefined)
    if (!admitted.accepted) assert.strictEqual(admitted.rule?._tag, refused)
  })

  it("starts a reply without delay, whose target is the comment", async () => {
    const admitted = await decide(discussed())
    assert(admitted.accepted)
    const { change, dueAt, priority } = admitted
    assert.deepInclude(admitted, { priority: Priority.reply, dueAt: now, request: undefined })
    assert.isBelow(priority, Priority.command)
    assert.strictEqual(dueAt, now)
    assert.deepInclude(change, { author: { username: "ada" }, baseRef: "main" })
    assert.strictEqual(targetKey(change), "tea:acme/app:comment:7:c1")
    assert.strictEqual(discussedKey(change), "tea:acme/app:pull_request:7")
  })
})
