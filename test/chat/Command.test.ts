import { describe, expect, it } from "vitest"
import { arities, parseCommand, parseRevision } from "../../src/chat/Command.ts"
import { chatCommands } from "../../src/domain/ChatRequest.ts"

const direct = { kind: "direct", id: "x" } as const
const group = { kind: "group", id: "x" } as const
const isBot = (mention: string | true) => mention === true || mention === "bot"
const parse = (text: string, conversation: typeof direct | typeof group = direct, mention?: string | true) =>
  parseCommand({ text, conversation, mention }, isBot)

describe("commands", () => {
  it.each([
    ["help", "help", []],
    ["  AICR   Review\u3000app  #12 ", "review", ["app", "#12"]],
    ["/aicr status 42", "status", ["42"]],
    ["/queue", "queue", []],
    ["commits app feature/x", "commits", ["app", "feature/x"]],
    ["prdetail 队/应用 7", "prdetail", ["队/应用", "7"]],
    ["aicr", "help", []]
  ])("parse %s", (text, name, args) => {
    expect(parse(text)).toEqual({ _tag: "Command", command: { name, args } })
  })

  it("take every command with its smallest and largest number of arguments, and no other number", () => {
    for (const name of chatCommands) {
      const { max, min } = arities[name]
      const words = (count: number) => [name, ...Array.from({ length: count }, (_, at) => `a${at}`)].join(" ")
      for (const count of [min, max]) expect(parse(words(count))).toMatchObject({ _tag: "Command" })
      expect(parse(words(max + 1))).toMatchObject({ _tag: "Unknown", usage: name })
    }
  })

  it.each(chatCommands.filter((name) => arities[name].min > 0))("refuse %s with too few arguments", (name) => {
    expect(parse(name)).toMatchObject({ _tag: "Unknown", usage: name })
  })

  it("need the prefix or a mention of this bot in a group", () => {
    expect(parse("help", group)).toEqual({ _tag: "NotForUs" })
    expect(parse("help", group, "other")).toEqual({ _tag: "NotForUs" })
    expect(parse("help", group, "bot")).toMatchObject({ _tag: "Command" })
    expect(parse("aicr help", group)).toMatchObject({ _tag: "Command" })
    expect(parse(" help", group, true)).toMatchObject({ _tag: "Command" })
  })

  it.each([
    "review app --upload-pack=x",
    "review app a;b",
    "review app a\nb",
    "review `x` 1",
    `review app ${"x".repeat(256)}`
  ])("refuse %j", (text) => {
    expect(parse(text)).toMatchObject({ _tag: "Unknown", usage: "review" })
  })

  it("take a question of any words and lines after an alias and a revision", () => {
    const question = { _tag: "Question", alias: "app", revision: "#12", question: "Why; is <this> wrong? 为什么" }
    expect(parse("aicr ask app #12 Why; is <this>\n wrong?\u3000为什么")).toEqual(question)
    expect(parse("@bot ask app #12 Why; is <this> wrong? 为什么".slice(5), group, "bot")).toEqual(question)
    for (const text of ["ask", "ask app", "ask app 12", "ask app $(id) Why?", "ask -x 12 Why?"])
      expect(parse(text)).toMatchObject({ _tag: "Unknown", usage: "ask" })
    expect(parse("aicr ask app 12 Why?", group, "other")).toEqual({ _tag: "NotForUs" })
  })

  it("parse revisions", () => {
    expect(parseRevision("!12")).toEqual({ _tag: "Pull", number: 12 })
    expect(parseRevision("A".repeat(40))).toEqual({ _tag: "Commit", id: "a".repeat(40) })
    expect(parseRevision("refs/heads/main")).toEqual({ _tag: "Branch", name: "main" })
    expect(parseRevision("0")).toEqual({ _tag: "Branch", name: "0" })
  })
})
