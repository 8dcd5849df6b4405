/** The finding that words are about: a comment may name its number. Words that are no comment at the host: objections of programs and questions from chat. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { PrivateFinding } from "../../../src/domain/Analysis.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import type { FindingState } from "../../../src/domain/FindingState.ts"
import { OperationId } from "../../../src/domain/Keys.ts"
import { privateDigest } from "../../../src/domain/PrivateDigest.ts"
import { inEnglish } from "../../../src/text/en.ts"
import { Outbox } from "../../../src/store/Outbox.ts"
import { Runs } from "../../../src/store/Runs.ts"
import { calling } from "../../engine/Fixture.ts"
import {
  ask,
  deliver,
  dispute,
  each,
  finding,
  Given,
  loadReview,
  objection,
  reviewed,
  reviewedWith,
  toChange
} from "./ReplyWorld.ts"

const pullKey = targetKey({
  ...toChange({ id: "", on: "pull_request", kind: "general" }),
  target: { kind: "pull_request", number: 7 }
})

/** Publishes a summary that numbers the findings. */
const summarise = Effect.fnUntraced(function* (
  fingerprints: ReadonlyArray<string>,
  states: ReadonlyArray<FindingState> = []
) {
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
  const { token } = yield* outbox.takeOver(pullKey, 0)
  yield* outbox.move(row.id, "pending", { status: "sending" }, token, 0)
  const about = { file: "src/cart.ts", severity: "medium", name: "Empty carts", place: "src/cart.ts:2" } as const
  const listed = fingerprints.map(
    (fp, index) => ({ ...about, fp, number: index + 1, state: states[index] ?? "open" }) as const
  )
  assert.isTrue(yield* outbox.move(row.id, "sending", { status: "sent", listed }, token, 0))
})

const other = { ...finding, fingerprint: "a".repeat(32), problem: { ...finding.problem, title: "Another one" } }

each("a finding that is named by its number is shown with its evidence and its state, in any thread", () =>
  Effect.gen(function* () {
    yield* reviewed(finding, { ...other, verified: "The caller passes it on." })
    yield* summarise([finding.fingerprint, other.fingerprint], ["open", "withdrawn"])
    const { conversations, prompts } = yield* Given
    const { runs } = yield* deliver(conversations.write("t1", "ada", "/aicr explain 2"))
    assert.strictEqual(runs[0]?.analysis?.reply?.fingerprint, other.fingerprint)
    assert.lengthOf(conversations.own("t1"), 2)
    const shown = JSON.stringify(prompts[0]?.messages)
    for (const part of ["Another one", "return sum(items)", "The caller passes it on.", "state: withdrawn"])
      assert.include(shown, part)
    assert.notInclude(shown, "bug src/cart.ts:2\\nEmpty carts")
  })
)

each("a number that the summary does not list gets one sentence in its place, from no model", () =>
  Effect.gen(function* () {
    yield* reviewed(finding)
    yield* summarise([finding.fingerprint])
    const { conversations, prompts, settings } = yield* Given
    for (const place of ["t1", "general"]) {
      const { runs } = yield* deliver(conversations.write(place, "ada", "/aicr explain 2"))
      assert.include(conversations.own(place).at(-1), "The summary lists no finding with the number 2")
      assert.deepInclude(runs[0]?.analysis?.reply, { outcome: "replied" })
      assert.isUndefined(runs[0]?.analysis?.reply?.fingerprint)
    }
    assert.isEmpty(prompts)
    settings.review = yield* loadReview({ conversation: { limits: { change_day: 2 } } })
    const { runs } = yield* deliver(conversations.write("general", "ada", "/aicr explain 2"))
    assert.strictEqual(runs[0]?.analysis?.reply?.outcome, "limited")
  })
)

each("a finding that only maintainers get is shown to no question, whatever names it", () =>
  Effect.gen(function* () {
    const secret: PrivateFinding = {
      finding: {
        ...other,
        problem: { ...other.problem, title: "zebra-title", message: "zebra-message", quote: "zebra-quote" }
      },
      salt: "0".repeat(32)
    }
    yield* reviewedWith({ private: [secret] }, finding)
    yield* summarise([finding.fingerprint])
    const { conversations, prompts, writers } = yield* Given
    writers.add("eve")
    const digest = privateDigest(secret)
    for (const words of [
      "explain 2",
      `explain ${digest}`,
      `explain ${secret.finding.fingerprint}`,
      "ask for all problems"
    ])
      for (const person of ["ada", "eve"])
        assert.deepInclude((yield* deliver(conversations.write("general", person, `/aicr ${words}`), person)).runs[0], {
          status: "succeeded"
        })
    assert.isNotEmpty(prompts)
    assert.notInclude(JSON.stringify(prompts), "zebra")
    assert.notInclude(conversations.own("general").join("\n"), "zebra")
  })
)

each("an objection of a program is about its own finding, whatever number its words name", () =>
  Effect.gen(function* () {
    yield* reviewed(finding, other)
    yield* summarise([finding.fingerprint, other.fingerprint])
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
