/** Commands in comments: after the prefix, after a mention, and as the first word of a reply. */
import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import { CommandRequest, findAddressedCommand, findCommand } from "../../src/domain/CommentCommand.ts"
import type { Command } from "../../src/domain/CommentCommand.ts"

const review: Command = { name: "review" }
const help: Command = { name: "help" }

describe("after /aicr", () => {
  const cases: ReadonlyArray<readonly [string, Command | undefined]> = [
    ["/review", review],
    ["/aicr review", review],
    ["/AICR Review please", review],
    ["Thanks!\r\n\r\n/review\r\n", review],
    ["could you /review, please?", review],
    ["/aicr review full", { name: "review", full: true }],
    ["/review full", { name: "review", full: true }],
    ["/aicr  help", help],
    ["/aicr cancel.", { name: "cancel" }],
    ["/aicr cancel\n/review", { name: "cancel" }],
    ["/aicr dismiss", { name: "dismiss" }],
    [
      "/aicr dismiss reason: intended, tests may do it",
      { name: "dismiss", reason: "intended", text: "tests may do it" }
    ],
    ["/aicr dismiss wrong", { name: "dismiss", reason: "wrong" }],
    ["/aicr dismiss latest news", { name: "dismiss", text: "latest news" }],
    ["/aicr dismiss 误报，这里没有用户输入", { name: "dismiss", reason: "wrong", text: "这里没有用户输入" }],
    ["/aicr dismiss 3", { name: "dismiss", number: 3 }],
    ["/aicr dismiss #12 intended: a test", { name: "dismiss", number: 12, reason: "intended", text: "a test" }],
    ["/aicr dismiss 3.5 is too old", { name: "dismiss", text: "3.5 is too old" }],
    ["/aicr dismiss 1234567", { name: "dismiss", text: "1234567" }],
    ["/aicr dismiss 3FA9c1d2e4b5 wrong", { name: "dismiss", digest: "3fa9c1d2e4b5", reason: "wrong" }],
    ["/aicr dismiss 3fa9c1d2-x", { name: "dismiss", text: "3fa9c1d2-x" }],
    ["/aicr reopen 12345678", { name: "reopen", digest: "12345678" }],
    ["/aicr reopen", { name: "reopen" }],
    ["/aicr reopen 3, please", { name: "reopen", number: 3 }],
    ["/aicr describe", { name: "describe" }],
    ["/aicr remember tests may use eval", { name: "remember", text: "tests may use eval" }],
    ["/aicr remember", { name: "remember" }],
    ["/aicr forget 0a1b2c3d", { name: "forget", id: "0a1b2c3d" }],
    ["/aicr forget it", help],
    ["/aicr pause", { name: "pause" }],
    ["/aicr resume now", { name: "resume" }],
    ["/aicr review focus: the locks", { name: "review", focus: "the locks" }],
    ["/review full, Focus：锁", { name: "review", full: true, focus: "锁" }],
    ["/aicr review focus:", review],
    ["/aicr review the focus: locks", review],
    ["/aicr review fully", review],
    ["/aicr dismiss not here", { name: "dismiss", reason: "not_here" }],
    ["/aicr dismiss 原因", { name: "dismiss", text: "原因" }],
    ["/aicr reviw", help],
    ["/aicr please look\nat this", help],
    ["/aicr reviw\n/aicr cancel", { name: "cancel" }],
    ["/aicr ask why is this a problem?", undefined],
    ["/aicr explain 3", undefined],
    ["the /aicr folder", undefined],
    ["> /aicr reviw", undefined],
    ["/aicr /help", undefined],
    ["/help", undefined],
    ["/aicr", undefined],
    ["/aicr\nreview", undefined],
    ["/reviewer", undefined],
    ["/review/this", undefined],
    ["see https://example.com/review", undefined],
    ["src/review is gone", undefined],
    ["> /review", undefined],
    ["  > /review", undefined],
    ["say `/review` to start", undefined],
    ["```\n/review\n```", undefined],
    ["```\nx\n```\n/review", review],
    ["~~~\n```\n/review\n~~~", undefined],
    ["", undefined]
  ]
  it.each(cases)("%j: %j", (body, expected) => {
    expect(findCommand(body)).toEqual(expected)
  })
})

describe("without the prefix", () => {
  const dismiss: Command = { name: "dismiss", reason: "intended" }
  const cases: ReadonlyArray<readonly [body: string, isReply: boolean, Command | undefined]> = [
    ["@aicr review", false, review],
    ["Look:\n@aicr cancel", false, { name: "cancel" }],
    ["dismiss 3", true, { name: "dismiss", number: 3 }],
    ["reopen", true, { name: "reopen" }],
    ["reopen #3", true, { name: "reopen", number: 3 }],
    ["reopen the file", true, undefined],
    ["reopen 3 files", true, undefined],
    ["remember to run the tests", true, undefined],
    ["@aicr remember tests may use eval", false, { name: "remember", text: "tests may use eval" }],
    ["pause", true, { name: "pause" }],
    ["pause here", true, undefined],
    ["review focus: locks", true, { name: "review", focus: "locks" }],
    ["@aicr reopen 3", false, { name: "reopen", number: 3 }],
    ["@aicr why is this a problem?", false, undefined],
    ["@aicr ask why", false, undefined],
    ["@aicr-two review", false, undefined],
    ["@aicrs review", false, undefined],
    ["mail@aicr review", false, undefined],
    ["> @aicr review", false, undefined],
    ["`@aicr review`", false, undefined],
    ["dismiss intended", true, dismiss],
    ["Dismiss: intended", true, dismiss],
    ["dismiss intended", false, undefined],
    ["> the finding\n\ndismiss intended", true, dismiss],
    ["I would dismiss it", true, undefined],
    ["I agree\ndismiss intended", true, undefined],
    ["review", true, review],
    ["review full", true, { name: "review", full: true }],
    ["review this again", true, undefined],
    ["help me to understand this", true, undefined],
    ["help", true, help],
    ["cancel that", true, undefined]
  ]
  it.each(cases)("%j, in a thread %j: %j", (body, isReply, expected) => {
    expect(findAddressedCommand(body, "aicr", isReply)).toEqual(expected)
  })

  it("compares the account of an app without its suffix, and no account before it was read", () => {
    expect(findAddressedCommand("@aicr review", "aicr[bot]", false)).toEqual(review)
    expect(findAddressedCommand("@aicr review", undefined, false)).toBeUndefined()
  })
})

it("bounds free texts, and writes what can be stored", () => {
  const long = "x".repeat(10_000)
  for (const body of [`/aicr dismiss ${long}`, `/aicr dismiss later ${long}`, `/aicr review focus: ${long}`]) {
    const command = findCommand(body)
    expect(Schema.decodeUnknownSync(CommandRequest)({ command })).toEqual({ command })
  }
})

it("takes time in proportion to the comment", () => {
  const started = performance.now()
  for (const body of [
    "/aicr ".repeat(10_000),
    "`".repeat(60_000),
    "/aicr" + " ".repeat(60_000),
    "> ".repeat(30_000),
    "/aicr dismiss ".repeat(4000),
    "/aicr review focus: ".repeat(3000),
    `/aicr dismiss ${"9".repeat(60_000)}`,
    "@aicr ".repeat(10_000)
  ]) {
    findCommand(body)
    findAddressedCommand(body, "aicr", true)
  }
  expect(performance.now() - started).toBeLessThan(1000)
})
