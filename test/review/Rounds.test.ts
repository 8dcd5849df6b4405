import { describe, expect, it } from "vitest"
import type { Finding } from "../../src/domain/Problem.ts"
import type { RememberedFinding } from "../../src/domain/Round.ts"
import { carriedOn, rememberRound, settleRound } from "../../src/review/Rounds.ts"

const finding = (
  fingerprint: string,
  severity: Finding["problem"]["severity"],
  more: Partial<Finding> = {}
): Finding => ({
  fingerprint,
  problem: {
    file: "a.ts",
    severity,
    category: "correctness",
    message: `Message of ${fingerprint}`,
    title: fingerprint
  },
  anchor: { path: "a.ts", side: "new", line: 3 },
  ...more
})

const rememberedOf = (fingerprint: string, state: RememberedFinding["state"], since = 1): RememberedFinding => ({
  fingerprint,
  file: "a.ts",
  severity: "low",
  title: fingerprint,
  since,
  state
})

const input = { number: 3, earlier: [], late: [], reported: [], isLifted: false }

describe("a finding of a round", () => {
  const last = { earlier: [finding("x", "low", { round: { kind: "late", since: 2, missed: 1 } })] }
  it.each([
    ["reported before, read lines", "low", 1, last, { kind: "carried", since: 2, missed: 1 }, true],
    ["reported before, changed lines", "low", 0, last, { kind: "carried", since: 2, missed: 1 }, true],
    [
      "reported by an earlier round and open",
      "low",
      1,
      { reported: [rememberedOf("x", "open")] },
      { kind: "carried", since: 1 },
      true
    ],
    ["dismissed before", "low", 1, { reported: [rememberedOf("x", "dismissed")] }, { kind: "carried", since: 1 }, true],
    ["withdrawn before", "low", 1, { reported: [rememberedOf("x", "withdrawn")] }, { kind: "carried", since: 1 }, true],
    [
      "repaired before, changed lines",
      "low",
      0,
      { reported: [rememberedOf("x", "fixed")] },
      { kind: "new", since: 3 },
      true
    ],
    [
      "repaired before, read lines",
      "low",
      2,
      { reported: [rememberedOf("x", "fixed")] },
      { kind: "late", since: 3, missed: 2 },
      false
    ],
    ["changed lines", "info", 0, {}, { kind: "new", since: 3 }, true],
    ["read lines, info", "info", 1, {}, { kind: "late", since: 3, missed: 1 }, false],
    ["read lines, low", "low", 1, {}, { kind: "late", since: 3, missed: 1 }, false],
    ["read lines, medium", "medium", 2, {}, { kind: "late", since: 3, missed: 2 }, false],
    ["read lines, high", "high", 1, {}, { kind: "late", since: 3, missed: 1 }, true],
    ["read lines, critical", "critical", 2, {}, { kind: "late", since: 3, missed: 2 }, true],
    ["read lines, a full review", "low", 1, { isLifted: true }, { kind: "late", since: 3, missed: 1 }, true]
  ] as const)("%s", (_, severity, read, more, round, isPublished) => {
    const { late, published } = settleRound([finding("x", severity)], [read], { ...input, ...more })
    expect([...published, ...late].map((one) => one.round)).toEqual([round])
    expect(published).toHaveLength(isPublished ? 1 : 0)
  })

  it("is late since the round that found it first", () => {
    const before = finding("x", "low", { round: { kind: "late", since: 2, missed: 1 } })
    const { late } = settleRound([finding("x", "low")], [1], { ...input, late: [before] })
    expect(late.map(({ round }) => round)).toEqual([{ kind: "late", since: 2, missed: 1 }])
    const { published } = settleRound([finding("x", "low")], [0], { ...input, late: [before] })
    expect(published.map(({ round }) => round)).toEqual([{ kind: "new", since: 3 }])
  })

  it("stays new while the round that reported it is not published", () => {
    const round = { kind: "new", since: 3 } as const
    const earlier = [finding("x", "low", { round })]
    expect(settleRound(earlier, [3], { ...input, earlier }).published.map((one) => one.round)).toEqual([round])
    expect(settleRound([finding("y", "low")], [3], input).published.map((one) => one.round)).toEqual([round])
    expect(carriedOn(earlier, 3).map((one) => one.round)).toEqual([round])
  })

  it("is never late if it is a fact", () => {
    const { published } = settleRound([finding("x", "critical", { fact: "credential" })], [1], input)
    expect(published.map(({ round }) => round)).toEqual([{ kind: "new", since: 3 }])
  })

  it("keeps the fingerprint of the last review if only its name changed", () => {
    const earlier = [finding("x", "low", { code: "k" }), finding("y", "low", { code: "l" })]
    const again = [
      finding("z", "low", { code: "k" }),
      finding("y", "low", { code: "l" }),
      finding("w", "low", { code: "k" })
    ]
    const { late, published } = settleRound(again, [1, 1, 1], { ...input, earlier })
    expect(published.map(({ fingerprint, round }) => [fingerprint, round?.kind])).toEqual([
      ["x", "carried"],
      ["y", "carried"]
    ])
    expect(late.map(({ fingerprint }) => fingerprint)).toEqual(["w"])
    // On changed lines it may be another problem.
    expect(settleRound(again.slice(0, 1), [0], { ...input, earlier }).published[0]?.fingerprint).toBe("z")
  })

  it.each([
    ["low", "medium", 1, "low"],
    ["low", "medium", 0, "medium"],
    ["low", "high", 1, "high"],
    ["medium", "low", 1, "low"]
  ] as const)("of %s that is reported again as %s, lines read in %i, is %s", (before, now, read, severity) => {
    for (const known of [
      { earlier: [finding("x", before)] },
      { reported: [{ ...rememberedOf("x", "open"), severity: before }] }
    ]) {
      const { published } = settleRound([finding("x", now)], [read], { ...input, ...known })
      expect(published.map(({ problem }) => problem.severity)).toEqual([severity])
    }
  })

  it("of a file that is not read again is carried", () => {
    expect(
      carriedOn([finding("x", "low"), finding("y", "low", { round: { kind: "new", since: 2 } })], 3).map(
        ({ round }) => round
      )
    ).toEqual([
      { kind: "carried", since: 1 },
      { kind: "carried", since: 2 }
    ])
  })
})

describe("what a round remembers", () => {
  it("is the state of each finding, and new ones", () => {
    const reported = [
      rememberedOf("kept", "open"),
      rememberedOf("gone", "open"),
      rememberedOf("unread", "open"),
      rememberedOf("no", "dismissed"),
      rememberedOf("back", "fixed")
    ]
    const found = [
      finding("kept", "low"),
      finding("back", "low"),
      finding("new", "high", { round: { kind: "new", since: 2 } })
    ]
    const judged = reported.map((one) => (one.fingerprint === "unread" ? { ...one, file: "b.ts" } : one))
    const next = rememberRound(judged, found, 2, (file) => file === "a.ts")
    expect(Object.fromEntries(next.map(({ fingerprint, since, state }) => [fingerprint, `${state} ${since}`]))).toEqual(
      {
        new: "open 2",
        kept: "open 1",
        unread: "open 1",
        back: "open 1",
        gone: "fixed 1",
        no: "dismissed 1"
      }
    )
  })

  it("is bounded, and drops what no longer counts first", () => {
    const reported = Array.from({ length: 400 }, (_, at) =>
      rememberedOf(String(at), at % 2 === 0 ? "fixed" : "open", at)
    )
    const next = rememberRound(reported, [], 9, () => false)
    expect(next).toHaveLength(300)
    expect(next.filter(({ state }) => state === "open")).toHaveLength(200)
    expect(next.at(-1)).toMatchObject({ since: 200 })
  })
})
