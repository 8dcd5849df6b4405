/** The commit that the rules of a review come from: never one that the author of the change chose. */
import { Effect } from "effect"
import { expect, it } from "vitest"
import type { Change } from "../../src/domain/Change.ts"
import { rulesRevision } from "../../src/forge/RulesRevision.ts"

/** `main` is the default branch; the host protects `release`. */
const tips: Readonly<Record<string, string>> = { main: "tip-of-main", release: "tip-of-release", own: "tip-of-own" }
const host = (defaultBranch: string | undefined) => ({
  branchTip: (_repo: unknown, branch: string) => {
    const commit = tips[branch]
    return Effect.succeed(commit === undefined ? undefined : { commit, isProtected: branch === "release" })
  },
  newestCommit: (_repo: unknown, { branch = defaultBranch }: { readonly branch?: string | undefined }) =>
    Effect.succeed(branch === undefined ? undefined : tips[branch])
})
const main = { commit: "tip-of-main", ref: "HEAD" }
const rules = (change: Pick<Change, "target" | "baseRef">, defaultBranch?: string) =>
  Effect.runPromise(rulesRevision({ repo: { fullName: "a/b" }, ...change }, host(defaultBranch)))

it.each<readonly [string, Pick<Change, "target" | "baseRef">, object]>([
  [
    "a pull request to a protected branch: its tip",
    { target: { kind: "pull_request", number: 1 }, baseRef: "release" },
    { commit: "tip-of-release", ref: "refs/heads/release" }
  ],
  [
    "a pull request to a branch that its author may write: the default branch",
    { target: { kind: "pull_request", number: 1 }, baseRef: "own" },
    main
  ],
  ["a pull request to a branch that is gone", { target: { kind: "pull_request", number: 1 }, baseRef: "gone" }, main],
  ["a pull request without a base branch", { target: { kind: "pull_request", number: 1 }, baseRef: undefined }, main],
  ["a push, whatever branch it went to", { target: { kind: "push", branch: "own" }, baseRef: undefined }, main],
  ["a manual review, whatever base was named", { target: { kind: "manual", branch: "x..y" }, baseRef: "own" }, main],
  [
    "a schedule of a configured branch: its tip",
    { target: { kind: "scheduled", branch: "own" }, baseRef: undefined },
    { commit: "tip-of-own", ref: "refs/heads/own" }
  ],
  ["a schedule of the default branch", { target: { kind: "scheduled" }, baseRef: undefined }, main]
])("%s", async (_, change, expected) => {
  expect(await rules(change, "main")).toEqual(expected)
})

it.each<readonly [string, { readonly isDefault?: boolean }, string | undefined]>([
  ["the host names with the pull request", {}, "main"],
  ["the host names with the branch", { isDefault: true }, undefined]
])("a pull request into the default branch, which %s, needs no further request", async (_, more, defaultBranch) => {
  const client = {
    branchTip: () => Effect.succeed({ commit: "tip-of-main", isProtected: false, ...more }),
    newestCommit: () => Effect.die("one request is enough")
  }
  const change = { repo: { fullName: "a/b" }, target: { kind: "pull_request", number: 1 }, baseRef: "main" } as const
  expect(await Effect.runPromise(rulesRevision(change, client, defaultBranch))).toEqual(main)
})

it("there are no rules where there is no default branch", async () => {
  expect(await rules({ target: { kind: "push", branch: "own" }, baseRef: undefined })).toBeUndefined()
})
