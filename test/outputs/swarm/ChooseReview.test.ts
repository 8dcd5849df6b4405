/** The choice of the review of Swarm, and of its version, on which a changelist is commented. */
import { describe, expect, it } from "vitest"
import type { SwarmReview } from "../../../src/forge/swarm/Client.ts"
import { chooseReview, chooseVersion, toChangelist } from "../../../src/outputs/swarm/ChooseReview.ts"

const review = (id: string, more: Partial<SwarmReview> = {}): SwarmReview => ({
  id,
  changes: ["7"],
  commits: [],
  state: "needsReview",
  comments: 0,
  ...more
})

describe("the review of a changelist", () => {
  it.each<readonly [string, ReadonlyArray<SwarmReview>, string | undefined]>([
    ["none", [], undefined],
    ["one that does not contain it", [review("1", { changes: ["8"] })], undefined],
    ["the newest", [review("9"), review("10")], "10"],
    ["an open one before a newer rejected one", [review("9"), review("10", { state: "rejected" })], "9"],
    ["an archived one, if there is no other", [review("9", { state: "archived" })], "9"],
    [
      "the committed one before a newer open one",
      [review("9", { commits: ["7"], state: "approved" }), review("10")],
      "9"
    ],
    ["one that names it as a commit only", [review("9", { changes: [], commits: ["7"] })], "9"]
  ])("%s", (_, reviews, expected) => {
    expect(chooseReview(reviews, "7")?.id).toBe(expected)
  })
})

it.each<readonly [ReadonlyArray<ReadonlyArray<string>>, number | undefined]>([
  [[], undefined],
  [[["7"]], undefined],
  [[["7"], ["8"]], 1],
  [[["7"], ["7", "71"], ["8"]], 2],
  [[["6", "7"], ["8"]], 1],
  [[["8"], ["9"]], undefined]
])("the version of changelist 7 in %j: %s", (versions, expected) => {
  expect(chooseVersion(versions, "7")).toBe(expected)
})

it("the changelist of a shelf is the number before its version", () => {
  expect(toChangelist({ head: "7-0123456789ab" })).toBe("7")
  expect(toChangelist({ head: "7" })).toBe("7")
})
