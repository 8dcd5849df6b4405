/** Branches of paths by the customary layout. */
import { describe, expect, it } from "vitest"
import { findBranch, isBranchUrl } from "../../../src/vcs/subversion/SvnStreams.ts"

describe("branches", () => {
  it.each([
    ["trunk/src/a.c", { branch: "trunk", path: "src/a.c", tag: false }],
    ["trunk", { branch: "trunk", path: "", tag: false }],
    ["branches/1.x/a.c", { branch: "branches/1.x", path: "a.c", tag: false }],
    ["web/branches/1.x/src/branches/a.c", { branch: "web/branches/1.x", path: "src/branches/a.c", tag: false }],
    ["tags/1.0/a.c", { branch: "tags/1.0", path: "a.c", tag: true }],
    ["a/b/c/trunk/x", { branch: "a/b/c/trunk", path: "x", tag: false }],
    ["a/b/c/d/trunk/x", { branch: "", path: "a/b/c/d/trunk/x", tag: false }],
    ["src/a.c", { branch: "", path: "src/a.c", tag: false }],
    ["branches", undefined],
    ["web/tags", undefined]
  ])("%s", (path, expected) => {
    expect(findBranch(path)).toEqual(expected)
  })
  it.each([
    ["trunk", true],
    ["web/branches/1.x/src", true],
    ["web", false],
    ["", false]
  ])("the URL of %j is one: %s", (path, expected) => {
    expect(isBranchUrl(path)).toBe(expected)
  })
})
