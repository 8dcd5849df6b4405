/** Words that are no comment at the host: objections of programs and questions from chat. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { targetKey } from "../../../src/domain/Change.ts"
import { OperationId } from "../../../src/domain/Keys.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { Outbox } from "../../../src/store/Outbox.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { calling } from "../../engine/Fixture.ts"
import { ask, deliver, dispute, each, finding, Given, loadReview, objection, reviewed, toChange } from "./ReplyWorld.ts"

const pullKey = targetKey({
  ...toChange({ id: "", on: "pull_request", kind: "general" }),
  target: { kind: "pull_request", number: 7 }
})

/** Publishes a summary that numbers the findings. */
const summarise = Effect.fnUntraced(function* (...fingerprints: ReadonlyArray<string>) {
  const outbox = yield* Outbox
  const [run] = yield* (yield* Runs).list({ targetKey: pullKey, limit: 1 })
  const row = {
    id: "summary",
    operationId: OperationId.make("summary"),
    runId: run?.id ?? "",
    targetKey: pullKey,
    channel: "pr",
    operation: { _tag: "Summary", head: "h1", body: "Summary" },
    status: "pending",
    position: 0,
    attempts: 0
  } as const
  yield* outbox.add([row], 0)
  const token = yield* outbox.takeOver(pullKey, 0)
  yield* outbox.move(row.id, "pending", { status: "sending" }, token, 0)
  const about = { file: "src/cart.ts", severity: "medium", name: "Empty carts", place: "src/cart.ts:2" } as const
  const listed = fingerprints.map((fp, index) => ({ ...about, fp, number: index + 1, state: "open" }) as const)
  assert.isTrue(yield* outbox.move(row.id, "sending", { status: "sent", listed }, token, 0))
})

const other = { ...finding, fingerprint: "a".repeat(32), problem: { ...finding.problem, title: "Another one" } }

each("an objection of a program is about its own finding, whatever number its words name", () =>
  Effect.gen(function* () {
    yield* reviewed(finding, other)
    yield* summarise(finding.fingerprint, other.fingerprint)
    const { conversations, files, settings } = yield* Given
    files.set("src/cart.ts", "if (items.length === 0) return 0\nreturn sum(items)\n")
    settings.answer = calling("reply", objection)
    const decided = yield* dispute(objection.quote, finding, "/aicr explain 2")
    assert.deepInclude(decided, { outcome: "withdrawn", fingerprint: finding.fingerprint })
    assert.deepStrictEqual(conversations.withdrawn, [finding.fingerprint])
    // The same words of a person name the finding.
    settings.answer = calling("reply", { outcome: "replied", text: "It is." })
    const { runs } = yield* deliver(conversations.write("t1", "ada", "/aicr explain 2"))
    assert.strictEqual(runs[0]?.analysis?.reply?.fingerprint, other.fingerprint)
  })
)

each(
  "a question from chat gets its reply from the review, in a run of its own, and nothing is written at the host",
  () =>
    Effect.gen(function* () {
      yield* reviewed()
      const { conversations, opened, prompts, settings } = yield* Given
      const before = conversations.own("t1").length
      const { entry, runs } = yield* ask("Why is that a problem?")
      assert.strictEqual(entry?.status, "done")
      assert.deepInclude(runs[0], { status: "succeeded", head: "h1" })
      assert.deepInclude(runs[0]?.analysis?.reply, { outcome: "replied", question: "Why is that a problem?" })
      const shown = JSON.stringify(prompts[0]?.messages)
      for (const part of ["An empty cart fails.", "Why is that a problem?"]) assert.include(shown, part)
      // People of chat have no rights to code at the host.
      assert.deepStrictEqual(
        prompts[0]?.tools.map(({ name }) => name),
        ["reply"]
      )
      settings.answer = calling("reply", objection)
      assert.deepInclude((yield* ask("It is wrong.")).runs[0]?.analysis?.reply, { outcome: "needs_person" })
      assert.isEmpty(conversations.withdrawn)
      assert.isEmpty(opened)
      assert.lengthOf(conversations.own("t1"), before)
      assert.isEmpty(conversations.reactions)
    })
)

each("questions from chat count towards the limits of the person and of the change, and need no comments", () =>
  Effect.gen(function* () {
    yield* reviewed()
    const { conversations, prompts, settings } = yield* Given
    settings.review = yield* loadReview({ comment_commands: false, conversation: { limits: { change_day: 2 } } })
    const conclude = Effect.map(ask("Why?"), ({ runs }) => {
      const conclusion = runs[0]?.analysis?.conclusion
      return conclusion && inEnglish(conclusion)
    })
    const isAnswered = "the question has its reply"
    assert.deepStrictEqual(
      [yield* conclude, yield* conclude, yield* conclude],
      [isAnswered, isAnswered, "review.conversation.limits.change_day is reached (2)"]
    )
    assert.lengthOf(prompts, 2)
    const { entry } = yield* deliver(conversations.write("t1", "ada", "Why?"))
    assert.strictEqual(entry?.reason?._tag, "CommentCommandsOff")
  })
)
