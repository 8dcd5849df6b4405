/** The demo model's replies to comments, over the prompt that the service builds. */
import { assert, describe, it } from "@effect/vitest"
import { findProblems } from "../../demo/DemoModel.ts"
import { writeDemoReply } from "../../demo/DemoReply.ts"
import type { Finding } from "../../src/domain/Problem.ts"
import { readReply, replyPrompt } from "../../src/review/ReplyPrompt.ts"

const faulty = "function total(prices) {\n  for (let i = 0; i <= prices.length; i++) {\n    add(prices[i])\n  }\n}"
const repaired = faulty.replace("<=", "<")

const title = "Loop runs one step too far"
const finding: Finding = {
  fingerprint: "0".repeat(32),
  problem: { file: "sum.ts", line: 2, severity: "high", category: "correctness", title, message: "The last step." }
}

const numbered = (code: string) =>
  ["file sum.ts", ...code.split("\n").map((line, index) => `${index + 1}: ${line}`)].join("\n")

const replyTo = (comment: string, code: string, isThread = true) => {
  const material = {
    title: "parcels",
    head: "a".repeat(40),
    findings: [finding],
    isThread,
    summary: "",
    diff: "",
    code: numbered(code),
    comments: [
      { by: "reviewer", name: "aicr", text: "Where else is it wrong?" },
      { by: "person", name: "dana", text: comment }
    ] as const
  }
  const written = writeDemoReply(replyPrompt(material, "F1"), findProblems)
  assert.isTrue(readReply(written).ok, JSON.stringify(written))
  assert.include(written.text, "not by a language model")
  return written
}

describe("the demo model's reply", () => {
  it.each([
    ["Why is this a problem?", "replied", "one behind the last index"],
    ["How do I fix it?", "replied", "Replace line 2 of `sum.ts`"],
    ["怎么改?", "replied", "i < prices.length"],
    ["Where else?", "replied", `"${title}" is on line 2`],
    ["This is a false positive", "kept", "The code still has it on line 2"]
  ])("to %j is %s", (comment, outcome, part) => {
    const reply = replyTo(comment, faulty)
    assert.strictEqual(reply.outcome, outcome)
    assert.include(reply.text, part)
  })

  it("withdraws what the code at the head does not have, with a line of it", () => {
    const reply = replyTo("You are wrong.", repaired)
    assert.deepInclude(reply, { outcome: "withdrawn", path: "sum.ts", quote: "function total(prices) {" })
  })

  it("below the change lists the findings", () => {
    assert.include(replyTo("@aicr what did you find?", "", false).text, `- high: ${title} (sum.ts)`)
  })
})
