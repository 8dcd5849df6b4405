import { describe, expect, it } from "vitest"
import type { Change } from "../../src/domain/Change.ts"
import {
  eraseChange,
  eraseEntry,
  eraseJson,
  eraseReason,
  eraseText,
  isOwnChange,
  readPerson
} from "../../src/domain/PersonErasure.ts"
import type { ErasedPerson } from "../../src/domain/PersonErasure.ts"

const person = (qualified: string): ErasedPerson => {
  const read = readPerson(qualified)
  if (read === undefined) throw new Error(`${qualified} should name a person`)
  return read
}
const alice = person("main:alice")

const change = (over: Partial<Change> = {}): Change => ({
  provider: "gitea",
  trigger: "main",
  workspace: "app",
  repo: { fullName: "acme/app" },
  target: { kind: "pull_request", number: 7 },
  ...over
})

describe("readPerson", () => {
  it.each([
    ["main:alice", "account", "main", ""],
    ["slack_user:U012", "chat", undefined, "chat slack_user "],
    ["administrator:ann@example.com", "administrator", undefined, "administrator "]
  ])("reads %s", (qualified, kind, trigger, prefix) => {
    expect(readPerson(qualified)).toMatchObject({ kind, trigger, prefix })
  })

  it.each([
    "alice",
    "main:",
    ":alice",
    "main:a b",
    'main:a"',
    "main:a\\",
    "main:a\u0000",
    "erased:person",
    "ma in:alice"
  ])("refuses %s", (qualified) => {
    expect(readPerson(qualified)).toBeUndefined()
  })
})

describe("eraseText", () => {
  it.each([
    ["ask Alice, please", "ask erased:person, please"],
    ["@alice: see /alice/app and alice.", "@erased:person: see /erased:person/app and erased:person."],
    ["alice2, malice, alice-b, alice.smith and b.alice stay", "alice2, malice, alice-b, alice.smith and b.alice stay"],
    ["İ alice", "İ erased:person"]
  ])("replaces the name as a word in %s", (text, expected) => {
    expect(eraseText(alice, text, "involved")).toBe(expected)
  })

  it("replaces only mentions where the person did not act", () => {
    expect(eraseText(alice, "alice told @alice", "other")).toBe("alice told @erased:person")
  })

  it("erases texts of the person as a whole", () => {
    expect(eraseText(alice, "anything", "own")).toBe("[erased]")
  })
})

it("a name that is also a value of records changes no value", () => {
  const login = person("main:review")
  const text = JSON.stringify({
    _tag: "Summary",
    name: "review",
    reason: "review",
    path: "review",
    body: "by review now"
  })
  const erased = JSON.parse(eraseJson(login, text, { own: new Set(), relation: "involved" }))
  expect(erased).toEqual({
    _tag: "Summary",
    name: "review",
    reason: "review",
    path: "review",
    body: "by erased:person now"
  })
  expect(JSON.parse(eraseReason(login, '{"_tag":"review","person":"review"}', "other"))).toEqual({
    _tag: "review",
    person: "erased:person"
  })
})

it("a change of the person loses its texts, and one of another person only the name", () => {
  const own = change({
    title: "Mine",
    description: "About me",
    author: { username: "Alice", name: "Alice A." },
    headRef: "alice/fix",
    headRepo: { fullName: "alice/app" }
  })
  expect(eraseChange(alice, own, "other")).toEqual(
    change({ title: "[erased]", description: "[erased]", author: { username: "erased:person" } })
  )
  const other = change({ title: "For alice", author: { username: "bob", name: "Bob" }, requestedBy: "alice" })
  expect(eraseChange(alice, other, "other")).toEqual({ ...other, requestedBy: "erased:person" })
})

it("people with the same name are other people", () => {
  const ofHost = change({ host: "other", author: { username: "alice" } })
  expect(isOwnChange(alice, ofHost)).toBe(false)
  expect(isOwnChange(person("other:alice"), ofHost)).toBe(true)
  const requested = change({ title: "T", requestedBy: "alice" })
  expect(eraseChange(person("administrator:alice"), requested, "other")).toEqual(requested)
  expect(eraseEntry(person("other:alice"), { id: "1", change: requested, reason: undefined })).toBeUndefined()
})

it("an entry loses the person in its change and in its reason", () => {
  const entry = {
    id: "1",
    change: change({ requestedBy: "chat slack_user U1" }),
    reason: { _tag: "ChangePaused", person: "chat slack_user U1" } as const
  }
  expect(eraseEntry(person("slack_user:U1"), entry)).toEqual({
    id: "1",
    change: change({ requestedBy: "chat slack_user erased:person" }),
    reason: { _tag: "ChangePaused", person: "chat slack_user erased:person" }
  })
})
