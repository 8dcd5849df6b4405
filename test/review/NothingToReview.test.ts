/** Decides where a model may skip: in a change of whole files that are deleted, moved or given another mode. */
import { describe, expect, it } from "vitest"
import { hasNothingToReview } from "../../src/review/NothingToReview.ts"

const file = (
  path: string,
  status: "added" | "deleted" | "modified" | "renamed",
  additions: number,
  deletions: number
) => ({
  path,
  oldPath: status === "renamed" ? `old/${path}` : undefined,
  status,
  additions,
  deletions
})

describe("a change has nothing to review", () => {
  it.each([
    ["that deletes a file", [file("a", "deleted", 0, 9)], true],
    ["that moves a file", [file("a", "renamed", 0, 0)], true],
    ["that changes a mode", [file("a", "modified", 0, 0)], true],
    ["that removes lines of a file", [file("a", "modified", 0, 1)], false],
    ["that adds a line", [file("a", "modified", 1, 0)], false],
    ["that moves and changes a file", [file("a", "renamed", 0, 1)], false],
    ["that deletes a file and adds another", [file("a", "deleted", 0, 9), file("b", "added", 1, 0)], false]
  ] as const)("%s: %s", (_, files, expected) => {
    expect(
      hasNothingToReview(
        files.map(({ path }) => path),
        files
      )
    ).toBe(expected)
  })

  it("only as far as the change names its files", () => {
    const moved = file("a", "renamed", 0, 0)
    expect(hasNothingToReview(["old/a"], [moved])).toBe(true)
    expect(hasNothingToReview(["b"], [moved])).toBe(false)
    expect(hasNothingToReview([], [moved])).toBe(false)
    expect(hasNothingToReview(["old/a"], [moved, file("old/a", "added", 5, 0)])).toBe(false)
  })
})
