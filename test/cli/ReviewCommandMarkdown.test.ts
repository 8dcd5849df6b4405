/**
 * The output of `aicr review --format markdown` is pasted into comments and wikis: text of a model, a path or a name must be inert in it.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { describe, expect, it, vi } from "vitest"
import type { LocalReview } from "../../src/cli/local/Report.ts"
import { reviewCommand } from "../../src/cli/ReviewCommand.ts"
import type { Finding } from "../../src/domain/Problem.ts"
import { analysis, finding } from "../outputs/Fixtures.ts"
import { payloads, wrappings } from "../outputs/HostileText.ts"
import { faults, tree } from "../outputs/LiveMarkup.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"

const printed = async (review: LocalReview): Promise<string> => {
  let stdout = ""
  const out = vi.spyOn(process.stdout, "write").mockImplementation((text, done?: unknown) => {
    stdout += String(text)
    if (typeof done === "function") done()
    return true
  })
  const command = reviewCommand(Effect.succeed({ reviewLocally: () => Effect.succeed(review) }))
  try {
    await Effect.runPromise(
      Command.runWith(Command.make("aicr").pipe(Command.withSubcommands([command])), { version: "0" })([
        "review",
        "--format",
        "markdown"
      ]).pipe(Effect.provide(NodeServices.layer))
    )
    return stdout
  } finally {
    out.mockRestore()
  }
}

const hostileFinding = (text: string, n: number): Finding =>
  finding(
    n,
    { severity: "high", title: text, message: text, category: text, suggestion: text, quote: text, file: text },
    { path: text, side: "new", line: n }
  )

const reviewOf = (texts: ReadonlyArray<string>): LocalReview => ({
  vcs: "git",
  root: "/repository",
  headName: "a".repeat(10),
  baseName: texts.at(-1) ?? "main",
  from: "b".repeat(40),
  head: "a".repeat(40),
  analysis: analysis(
    [...texts.map(hostileFinding), ...texts.map((text) => finding(1, { title: undefined, message: text }, null))],
    {
      summary: texts.join("\n\n"),
      notices: texts.map(verbatimReason),
      models: texts,
      coverage: { reviewed: texts, skipped: texts.map((path) => ({ path, reason: "excluded", rule: path })), lines: 1 }
    }
  )
})

describe("aicr review --format markdown", () => {
  // Each payload unchanged, in running text, after a line of text and in code that is not closed.
  it.each([0, 1, 2, 8])("prints inert text, wrapping %i", async (at) => {
    const texts = payloads.map((payload) => wrappings[at]?.(payload) ?? payload)
    const body = await printed(reviewOf(texts))
    expect(faults(body, "report")).toEqual([])
  })

  it.each(["<!-- the rest is hidden", "```\nnot closed", "<details>"])("hides nothing behind %j", async (text) => {
    const { children } = tree(await printed(reviewOf([text])))
    const headings = children.filter(({ type }) => type === "heading")
    expect(headings).toHaveLength(4)
    expect(children.at(-1)).toMatchObject({ type: "paragraph" })
  })
})
