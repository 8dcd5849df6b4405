import { describe, expect, it } from "vitest"
import { decideReply } from "../../../actors/conversation/ReplyDecision.ts"
import type { ConversationText, ReplySituation } from "../../../actors/conversation/ReplyDecision.ts"

let serial = 0
const text = (author: string, body: string, over: Partial<ConversationText> = {}): ConversationText => ({
  id: `c${(serial += 1)}`,
  author,
  isOurs: false,
  isBot: false,
  body,
  ...over
})
const ours = (body = "a finding") => text("aicr", body, { isOurs: true })

/** The last text is the comment. */
const situation = (texts: ReadonlyArray<ConversationText>, over: Partial<ReplySituation> = {}): ReplySituation => ({
  texts,
  comment: texts.at(-1),
  isOurThread: texts[0]?.isOurs === true,
  isLocked: false,
  account: "aicr",
  maxInThread: 6,
  ...over
})

describe("decideReply", () => {
  const chat = (count: number) =>
    Array.from({ length: count }, (_, at) => (at % 2 === 0 ? ours() : text("bob", "why is that?")))
  const cases: ReadonlyArray<readonly [string, ReplySituation, string]> = [
    ["a question in our thread", situation([ours(), text("ada", "why?")]), "Reply"],
    [
      "an objection by its second writer",
      situation([ours(), text("ada", "why?"), text("bob", "it is wrong")]),
      "ThreadOfPeople"
    ],
    [
      "a mention by its second writer",
      situation([ours(), text("ada", "why?"), text("bob", "@aicr it is wrong")]),
      "Reply"
    ],
    [
      "a second comment of the same person",
      situation([ours(), text("ada", "why?"), ours(), text("Ada", "and then?")]),
      "Reply"
    ],
    [
      "a bot next to a person",
      situation([ours(), text("ci", "failed", { isBot: true }), text("ada", "why?")]),
      "Reply"
    ],
    ["a comment of a bot", situation([ours(), text("ci", "@aicr failed", { isBot: true })]), "CommentOfBot"],
    ["our own text", situation([ours(), ours("@aicr why?")]), "OwnComment"],
    ["a deleted comment", situation([ours()], { comment: undefined }), "CommentNotFound"],
    ["a locked conversation", situation([ours(), text("ada", "@aicr why?")], { isLocked: true }), "ConversationLocked"],
    ["a comment to another person", situation([ours(), text("ada", "@bob look")]), "AddressesOthers"],
    ["a thread of people", situation([text("bob", "hm"), text("ada", "why?")]), "NotAddressed"],
    ["a mention in a thread of people", situation([text("bob", "hm"), text("ada", "@aicr why?")]), "Reply"],
    ["an edit that took the mention out", situation([text("ada", "never mind")]), "NotAddressed"],
    ["thanks", situation([ours(), text("ada", "Thanks!")]), "React"],
    ["thanks with a mention", situation([text("ada", "@aicr thanks")]), "React"],
    ["a claim of a repair", situation([ours(), text("ada", "fixed")]), "CompareCode"],
    ["a claim of a repair without a finding", situation([text("ada", "@aicr done")]), "React"],
    ["the sixth reply", situation(chat(12)), "Reply"],
    ["the seventh reply", situation(chat(14)), "Limited"],
    ["a mention after the last reply", situation([...chat(13), text("bob", "@aicr why?")]), "Limited"],
    ["a limit that is reached earlier", situation(chat(4), { maxInThread: 1 }), "Limited"]
  ]
  it.each(cases)("%s", (_, given, expected) => {
    const decided = decideReply(given)
    expect(decided._tag === "Ignore" ? decided.reason._tag : decided._tag).toBe(expected)
  })

  it("ends a conversation of two services at the limit", () => {
    const texts = [ours("a finding"), text("other", "This is wrong.")]
    let replies = 0
    while (decideReply(situation(texts))._tag === "Reply") {
      replies += 1
      texts.push(ours("It is not."), text("other", "It is."))
    }
    expect(replies).toBe(6)
  })
})
