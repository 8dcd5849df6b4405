/** A member file is read as a whole or not at all. */
import { describe, expect, it } from "vitest"
import { stringify } from "yaml"
import { maxMemberFileBytes, readMemberFile } from "../../../src/chat/members/MemberFile.ts"
import { inEnglish } from "../../../src/text/en.ts"

const ada = {
  key: "ada",
  display_name: "Ada Lovelace",
  aliases: ["Countess"],
  emails: ["ada@example.test"],
  vcs_accounts: [{ provider: "githost_a", source_trigger: "host", username: "ada-l" }],
  mention: { type: "im_b_userid", id: "AdaL" }
}
const file = (members: ReadonlyArray<object> = [ada], change: object = {}, top: object = {}) => ({
  version: 1,
  directories: {
    corp: { platform: "wecom", identity_scope: { kind: "wecom_corp", id: "ww1" }, members, ...change }
  },
  ...top
})
const read = (value: object) => readMemberFile(stringify(value))
const issues = (value: object) => {
  const reading = read(value)
  return reading._tag === "Refused" ? reading.issues.map(inEnglish) : []
}

describe("member files", () => {
  it("have the same meaning in YAML and JSON", () => {
    const reading = read(file())
    expect(readMemberFile(JSON.stringify(file()))).toEqual(reading)
    expect(reading).toEqual({
      _tag: "Read",
      directories: new Map([
        [
          "corp",
          {
            scope: { kind: "wecom_corp", id: "ww1" },
            members: [
              {
                key: "ada",
                names: ["Ada Lovelace", "Countess"],
                emails: ["ada@example.test"],
                accounts: [{ provider: "gitea", sourceTrigger: "host", username: "ada-l" }],
                mention: { type: "wecom_userid", id: "AdaL" }
              }
            ]
          }
        ]
      ])
    })
  })

  it.each([
    ["another version", file([ada], {}, { version: 2 })],
    ["an unknown field", file([{ ...ada, phone: "1" }])],
    ["an unknown field at the top", file([ada], {}, { more: {} })],
    ["a member without a mention", file([ada, { key: "eve" }])],
    ["two members with one key", file([ada, ada])],
    ["a mention of the other platform", file([{ ...ada, mention: { type: "feishu_open_id", id: "ou_1" } }])],
    ["a mention with markup", file([{ ...ada, mention: { type: "wecom_userid", id: "a><b" } }])],
    ["a scope of the other platform", file([ada], { identity_scope: { kind: "feishu_app", id: "cli" } })],
    ["an unknown platform", file([ada], { platform: "irc" })],
    ["an unknown provider", file([{ ...ada, vcs_accounts: [{ provider: "cvs", username: "a" }] }])],
    ["a number in place of a text", file([{ ...ada, aliases: [7] }])]
  ])("are refused as a whole with %s", (_, value) => {
    expect(issues(value).length).toBeGreaterThan(0)
  })

  it("report positions, and no content", () => {
    expect(issues(file([ada, { ...ada, key: "eve", emails: [{ secret: "eve@example.test" }] }]))).toEqual([
      "directories.corp.members.1.emails.0: missing, unknown, or of another type or length than described"
    ])
  })

  it("are refused with more than 50,000 members in a directory", () => {
    const member = { key: "a", mention: { type: "wecom_userid", id: "a" } }
    const [atLimit, above] = [50_000, 50_001].map((count) => {
      const reading = readMemberFile(JSON.stringify(file(Array.from({ length: count }, () => member))))
      return reading._tag === "Refused" ? reading.issues.map(inEnglish)[0] : undefined
    })
    // Their equal keys are found after their number was accepted.
    expect(atLimit).toBe("directories.corp.members[1].key: duplicate key")
    expect(above).toBe("directories.corp.members: missing, unknown, or of another type or length than described")
  })

  it("are refused with duplicate keys, aliases without bound, or above 4 MiB", () => {
    const text = stringify(file())
    expect(readMemberFile(`${text}version: 1\n`)._tag).toBe("Refused")
    expect(readMemberFile(`{"version":1,"version":1,"directories":{}}`)._tag).toBe("Refused")
    expect(readMemberFile(`${text}# ${"x".repeat(maxMemberFileBytes)}`)._tag).toBe("Refused")
    expect(readMemberFile("")._tag).toBe("Refused")
  })
})
