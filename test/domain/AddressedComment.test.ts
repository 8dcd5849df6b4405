import { describe, expect, it } from "vitest"
import { findAddressee, readExplained, readRemark } from "../../src/domain/AddressedComment.ts"

it.each([
  ["/aicr explain 3", 3],
  ["Hello\n@aicr, explain #12.", 12],
  ["explain 3 please", 3],
  ["/aicr explain", undefined],
  ["/aicr explain this", undefined],
  ["explain 3.5", undefined],
  ["I can explain 3", undefined],
  ["> /aicr explain 3", undefined],
  ["explain 1234567", undefined]
] as const)("%j wants the finding %j explained", (body, expected) => {
  expect(readExplained(body)).toBe(expected)
})

describe("findAddressee", () => {
  it.each([
    ["why is that a problem?", "nobody"],
    ["@aicr why is that a problem?", "service"],
    ["Well, @AICR, why?", "service"],
    ["cc @aicr.", "service"],
    ["@aicr-dev why?", "person"],
    ["@aicrs why?", "person"],
    ["mail me@aicr.example", "nobody"],
    ["see https://git.test/@aicr", "nobody"],
    ["@bob please look", "person"],
    ["  @bob please look", "person"],
    ["@group/sub look", "person"],
    ["as @bob says, this is wrong", "nobody"],
    ["@bob @aicr can explain it", "service"],
    ["/aicr ask why?", "service"],
    ["Hello\n/aicr explain 3", "service"],
    ["/aicr asks", "nobody"],
    ["/aicr review", "nobody"],
    ["> @aicr why?\n\nI do not know", "nobody"],
    ["> @bob look\n@aicr why?", "service"],
    ["`@aicr` is its name", "nobody"],
    ["```\n@aicr\n```\nthat is code", "nobody"],
    ["~~~\n/aicr ask why\n~~~", "nobody"],
    ["<!-- @aicr --> hidden", "nobody"],
    ["<!-- hidden --> @bob look", "person"]
  ] as const)("%j is addressed to %s", (body, expected) => {
    expect(findAddressee(body, "aicr")).toBe(expected)
  })

  it("reads the mention of an app of GitHub, and no mention while the account is unknown", () => {
    expect(findAddressee("@aicr why?", "aicr[bot]")).toBe("service")
    expect(findAddressee("@aicr why?", undefined)).toBe("person")
    expect(findAddressee("/aicr ask why?", undefined)).toBe("service")
  })

  it("reads a long text in linear time", () => {
    for (const piece of ["@a", "`", "<!--", "> ", "/aicr ", "@a/", "```\n", "@a.b-"]) {
      const began = performance.now()
      findAddressee(piece.repeat(200_000), "aicr")
      readRemark(piece.repeat(200_000))
      expect([piece, performance.now() - began < 10_000]).toEqual([piece, true])
    }
  })
})

describe("readRemark", () => {
  it.each([
    ["Thanks!", "thanks"],
    ["thank you :+1:", "thanks"],
    ["👍", "thanks"],
    [":+1:", "thanks"],
    ["+1", "thanks"],
    ["@aicr thanks", "thanks"],
    ["You're right.", "thanks"],
    ["谢谢！", "thanks"],
    ["好的，收到", undefined],
    ["收到", "thanks"],
    ["Done.", "fixed"],
    ["Fixed, thanks!", "fixed"],
    ["已修复。", "fixed"],
    ["Fixed?", undefined],
    ["ok?", undefined],
    ["thanks, but why is that a problem", undefined],
    ["not fixed", undefined],
    ["`x`", undefined],
    ["no", undefined],
    ["This is intended.", undefined]
  ] as const)("%j is %s", (body, expected) => {
    expect(readRemark(body)).toBe(expected)
  })
})
