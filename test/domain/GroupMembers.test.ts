/** Pull requests of merge groups, found among their commits for each method of merging. */
import { describe, expect, it } from "vitest"
import { findMembers, hasRebased } from "../../src/domain/GroupMembers.ts"
import type { QueuedCommit } from "../../src/domain/GroupMembers.ts"

const commit = (id: string, title: string, ...parents: ReadonlyArray<string>): QueuedCommit => ({ id, title, parents })
const group = { head: "g2", base: "b", number: 8 }
const earlier = commit("b", "before", "a")
const merges = [
  commit("g2", "Merge pull request #8 from o/y", "g1", "h8"),
  commit("h8", "y (#5)", "a"),
  commit("g1", "Merge pull request #7 from o/x", "b", "h7"),
  commit("h7", "x", "a"),
  earlier
]
const squashes = [commit("g2", "Y", "g1"), commit("g1", "Fix x (#3) (#7)", "b"), earlier]
const rebases = [commit("g2", "y 2", "y1"), commit("y1", "y 1", "g1"), commit("g1", "x", "b"), earlier]

describe("findMembers", () => {
  it.each([
    [
      "merges",
      merges,
      undefined,
      [
        { number: 7, head: "h7" },
        { number: 8, head: "h8" }
      ]
    ],
    ["squashed commits", squashes, undefined, [{ number: 7 }, { number: 8 }]],
    [
      "rebased commits with the tips of the queue",
      rebases,
      new Map([
        ["g1", 7],
        ["g2", 8],
        ["later", 9]
      ]),
      [{ number: 7 }, { number: 8 }]
    ],
    ["rebased commits of one pull request", rebases, new Map([["g2", 8]]), [{ number: 8 }]],
    ["commits that do not reach the base", merges.slice(0, 2), undefined, undefined],
    ["a circle", [commit("g2", "", "g1"), commit("g1", "", "g2")], undefined, undefined],
    ["no commits", [], undefined, undefined]
  ])("%s", (_, commits, tips, expected) => {
    expect(findMembers(commits, group, tips)).toEqual(expected)
  })

  it("names no pull request for a head whose branch names none", () => {
    expect(findMembers(squashes, { ...group, number: undefined })).toBeUndefined()
  })

  it("needs the tips of the queue for rebased commits only", () => {
    expect([merges, squashes, rebases].map((commits) => hasRebased(commits, group))).toEqual([false, false, true])
  })
})
