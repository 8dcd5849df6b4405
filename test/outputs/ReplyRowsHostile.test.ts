/** Hostile text of a model or a path is inert in replies to comments: parsers of others find nothing in them that is not ours. */
import { assert, describe, it } from "vitest"
import type { Change } from "../../src/domain/Change.ts"
import { TargetKey } from "../../src/domain/Keys.ts"
import type { CommentReply, ReplyOutcome } from "../../src/domain/CommentReply.ts"
import { opening, parseMarkers } from "../../src/outputs/Marker.ts"
import { replyRows } from "../../src/outputs/ReplyRows.ts"
import { change as base, workspace } from "./Fixtures.ts"
import { takeSample } from "../harness/Samples.ts"
import { inputs as all } from "./HostileText.ts"
import { faults } from "./LiveMarkup.ts"

const inputs = takeSample("AICR_TEST_TEXTS", all, 5)
const comment = { id: "1", on: "pull_request", kind: "line", thread: "1" } as const
const change: Change = { ...base, target: { kind: "comment", number: 7, comment } }

const bodies = (reply: Omit<CommentReply, "comment" | "question">) =>
  replyRows(
    {
      runId: "run",
      targetKey: TargetKey.make("t:team/shop:comment:7:1"),
      change,
      head: "a".repeat(40),
      workspace: workspace()
    },
    { ...reply, comment, question: "Why?" }
  ).flatMap(({ operation }) => (operation._tag === "Reply" ? [operation.body] : []))

/** The marker of the service is at the end. */
const withoutOwn = (body: string) => body.slice(0, body.lastIndexOf(opening))

const outcomes: ReadonlyArray<ReplyOutcome> = ["replied", "kept", "needs_person", "withdrawn"]

describe("replies", () => {
  it.each(outcomes)("have no live markup of the model where the outcome is %s", (outcome) => {
    for (const text of inputs) {
      const fingerprint = text
      const [body = "", ...others] = bodies({ outcome, text: `a${text}`, fingerprint })
      assert.isEmpty(others)
      assert.deepStrictEqual(faults(withoutOwn(body)), [], JSON.stringify(text))
      assert.lengthOf(parseMarkers(body), 1, JSON.stringify(text))
    }
  })

  it("have no live markup of a path", () => {
    for (const path of inputs) {
      const [body = ""] = bodies({ outcome: "kept", text: "", evidence: { path, line: 3, quote: path } })
      assert.deepStrictEqual(faults(withoutOwn(body)), [], JSON.stringify(path))
    }
  })
})
