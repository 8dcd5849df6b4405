import { describe, expect, it } from "vitest"
import { arities, chineseName, isRevision, mayBeRevision, parseCommand, parseRevision } from "../../src/chat/Command.ts"
import type { Change } from "../../src/domain/Change.ts"
import { chatCommands } from "../../src/domain/ChatRequest.ts"

const direct = { kind: "direct", id: "x" } as const
const group = { kind: "group", id: "x" } as const
const isBot = (mentions: ReadonlyArray<string> | true) => mentions === true || mentions.includes("bot")
const parse = (text: string, conversation: typeof direct | typeof group = direct, ...mentions: ReadonlyArray<string>) =>
  parseCommand({ text, conversation, mention: mentions.length === 0 ? undefined : mentions }, isBot)

describe("commands", () => {
  it.each([
    ["help", "help", []],
    ["  AICR   Review\u3000app  #12 ", "review", ["app", "#12"]],
    ["/aicr status 42", "status", ["42"]],
    ["/queue", "queue", []],
    ["commits app feature/x", "commits", ["app", "feature/x"]],
    ["prdetail 队/应用 7", "prdetail", ["队/应用", "7"]],
    ["aicr", "help", []],
    ["帮助", "help", []],
    ["aicr 评审 web 7", "review", ["web", "7"]],
    ["@bob help", "help", []],
    ["review web 7 @bob @ann", "review", ["web", "7"]]
  ])("parse %s", (text, name, args) => {
    expect(parse(text)).toEqual({ _tag: "Command", command: { name, args } })
  })

  it.each([
    ["stop", "stop"],
    ["/Stop", "stop"],
    ["aicr start", "start"],
    ["退订", "stop"],
    ["订阅", "start"]
  ])("about direct messages: %s", (text, name) => {
    expect(parse(text)).toEqual({ _tag: "Personal", name })
    expect(parse(`${text} now`)).toMatchObject({ _tag: "Unknown", usage: name })
    expect(parse("stop", group)).toEqual({ _tag: "NotForUs" })
  })

  it("each has a name in Chinese", () => {
    for (const name of chatCommands) {
      expect(
        parse([chineseName(name), ...Array.from({ length: arities[name].min }, () => "a")].join(" "))
      ).toMatchObject({
        command: { name }
      })
    }
    expect(chineseName("ask")).toBe("提问")
  })

  const change: Change = {
    provider: "gitea",
    trigger: "t",
    workspace: "w",
    repo: { fullName: "a/b" },
    target: { kind: "push", branch: "main" },
    head: "3da17c49bc0f59fc3da17c49bc0f59fc3da17c49"
  }
  const revision: Change = {
    ...change,
    provider: "subversion",
    head: "14",
    base: "11",
    target: { kind: "push", branch: "trunk" }
  }
  const shelf: Change = {
    ...change,
    provider: "perforce",
    head: "52-ab12",
    target: { kind: "commit", branch: "//d/main@=52" }
  }
  it.each<[text: string, change: Change, expected: boolean]>([
    ["main", change, true],
    ["3da17c49bc0f", change, true],
    ["3da17c4", change, true],
    ["3da17c", change, false],
    ["4da17c49bc0f", change, false],
    ["release", change, false],
    ["7", change, false],
    ["#7", { ...change, target: { kind: "pull_request", number: 7 } }, true],
    ["14", revision, true],
    ["r14", revision, true],
    ["12", revision, true],
    ["11", revision, false],
    ["15", revision, false],
    ["trunk", revision, true],
    ["7", { ...revision, head: "9", base: "0" }, false],
    ["52", shelf, true],
    ["52", { ...shelf, head: "53", base: "50" }, false],
    ["//d/main@=52", shelf, true]
  ])("%s names a change: %o, %s", (text, named, expected) => {
    expect(isRevision(named, text)).toBe(expected)
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
    expect(parse("help", group, "other", "bot")).toMatchObject({ _tag: "Command" })
    expect(parse("help", group, "bot")).toMatchObject({ _tag: "Command" })
    expect(parse("aicr help", group)).toMatchObject({ _tag: "Command" })
    expect(parseCommand({ text: " help", conversation: group, mention: true }, isBot)).toMatchObject({
      _tag: "Command"
    })
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

describe("mayBeRevision", () => {
  const pull = { provider: "gitea", kind: "pull_request", name: "12", head: "a".repeat(40) } as const
  const push = { provider: "gitea", kind: "push", name: "release/1", head: "b".repeat(40) } as const
  const batch = { provider: "subversion", kind: "push", name: "trunk", head: "20" } as const
  it.each([
    [pull, "#12", true],
    [pull, "13", false],
    // The branch of its head may have this name.
    [pull, "feature", true],
    [push, "release/1", true],
    [push, "release", false],
    [push, "b".repeat(40), true],
    [push, "bbbbbbb", true],
    [push, "12", false],
    // The batch may have begun before it.
    [batch, "r18", true],
    [batch, "21", false],
    [batch, "trunk", true],
    [batch, "branches/1", false]
  ] as const)("%j, %s: %s", (change, text, expected) => {
    expect(mayBeRevision(change, text)).toBe(expected)
  })
})
