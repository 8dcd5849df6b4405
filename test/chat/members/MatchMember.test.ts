/** The order of the rules that find the author among members. */
import { describe, expect, it } from "vitest"
import { matchMember } from "../../../src/chat/members/MatchMember.ts"
import type { AuthorFacts } from "../../../src/chat/members/MatchMember.ts"
import type { ChatMember } from "../../../src/chat/members/Member.ts"

const member = (key: string, more: Partial<ChatMember> = {}): ChatMember => ({
  key,
  names: [],
  emails: [],
  accounts: [],
  mention: { type: "wecom_userid", id: `id-${key}` },
  ...more
})
const account = (username: string, sourceTrigger?: string) => ({ provider: "gitea" as const, sourceTrigger, username })

const ada = member("ada", {
  names: ["Ada Lovelace"],
  emails: ["ada@example.test"],
  accounts: [account("ada-l", "host")]
})
const bob = member("bob", { names: ["Bob", "老鲍"], emails: ["bob@example.test"] })
const twins = [member("t1", { names: ["Twin"] }), member("t2", { names: ["twin"] })]
const everyone = [ada, bob, ...twins, member("xy")]

const author = (facts: Partial<AuthorFacts>): AuthorFacts => ({
  provider: "gitea",
  trigger: "host",
  accounts: [],
  names: [],
  email: undefined,
  client: undefined,
  ...facts
})
const found = (facts: Partial<AuthorFacts>, mappings: Record<string, string> = {}, guesses = true) => {
  const match = matchMember(author(facts), everyone, { mappings, guesses })
  return match._tag === "One" ? match.member.key : match._tag
}

describe("the member who wrote a change", () => {
  it.each([
    ["by a mapping of the login", { accounts: ["x"], email: "ada@example.test" }, { x: "bob" }, "bob"],
    [
      "by a mapping of the address",
      { email: "x@example.test", names: ["Ada Lovelace"] },
      { "x@example.test": "bob" },
      "bob"
    ],
    [
      "by a mapping of the client before the address",
      { client: "c1", email: "ada@example.test" },
      { c1: "bob" },
      "bob"
    ],
    ["by a mapping of the login before the client", { accounts: ["x"], client: "c1" }, { c1: "bob", x: "ada" }, "ada"],
    ["by the whole address before a name", { email: "ADA@example.test", names: ["Bob"] }, {}, "ada"],
    ["not by a part of the address", { email: "ada@example.test.evil" }, {}, "None"],
    ["by the login at the host", { accounts: ["ADA-L"] }, {}, "ada"],
    ["by an alias", { names: ["老鲍"] }, {}, "bob"],
    ["by a name of other width and case", { names: ["ＡＤＡ lovelace"] }, {}, "ada"],
    ["by the key", { names: ["Ada"] }, {}, "ada"],
    ["by no one else's name", { names: ["Lovelace"] }, {}, "None"],
    ["by a word of the client", { client: "ws_bob-main" }, {}, "bob"],
    ["not by a word of two letters", { client: "xy-main" }, {}, "None"],
    ["not by the login at a host of another kind", { provider: "gitlab", accounts: ["ada-l"] }, {}, "None"],
    ["nobody if several match", { names: ["Twin"] }, {}, "Several"],
    ["nobody if mappings name two people", { accounts: ["x"], names: ["y"] }, { x: "ada", y: "bob" }, "Several"],
    ["nobody, whatever later rules find", { names: ["Twin"], client: "ws_bob" }, {}, "Several"],
    ["nobody by inherited names of objects", { names: ["constructor"] }, {}, "None"]
  ] as const)("is found %s", (_, facts, mappings, expected) => {
    expect(found(facts, mappings)).toBe(expected)
  })

  it("is not found by the client where guessing is off", () => {
    expect(found({ client: "ws_bob-main" }, {}, false)).toBe("None")
  })

  it("has an account of the same host only", () => {
    const facts = author({ accounts: ["ada-l"], trigger: "other" })
    expect(matchMember(facts, [ada], { mappings: {}, guesses: true })._tag).toBe("None")
  })

  it("may be listed twice under one id", () => {
    const again = member("ada2", { ...ada, key: "ada2" })
    expect(matchMember(author({ accounts: ["ada-l"] }), [ada, again], { mappings: {}, guesses: true })._tag).toBe("One")
  })
})
