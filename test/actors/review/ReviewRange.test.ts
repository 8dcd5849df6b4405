/** Ranges of reviews without a pull request, and the requests to the host for them. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { inEnglish } from "../../../src/text/en.ts"
import { resolveRange } from "../../../actors/review/ReviewRange.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import type { Entry } from "../../../src/domain/Entry.ts"
import type { ForgeClient, HostMergeQueue } from "../../../src/forge/Forge.ts"
import { Runs } from "../../../src/store/Runs.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { analysis } from "../../store/Fixtures.ts"
import { testForges, testSnapshotWith } from "../../harness/ActorParts.ts"

const document = {
  triggers: [
    { name: "tea", kind: "gitea", base_url: "https://gitea.test" },
    {
      name: "nightly",
      kind: "scheduled",
      cron: "0 3 * * *",
      repositories: [
        { repo: "acme/app", branch: "main" },
        { repo: "acme/week", branch: "main", range: { days: 7 } }
      ]
    }
  ],
  workspaces: { instances: { app: { source_repo: { trigger: "tea", repo: "acme/app" } } } }
}
const firedAt = Date.parse("2026-03-10T03:00:00Z")

const entry = (change: Pick<Change, "target"> & Partial<Change>): Entry => {
  const whole: Change = {
    provider: "scheduled",
    trigger: "nightly",
    workspace: "app",
    repo: { fullName: "acme/app" },
    ...change
  }
  return {
    id: "entry",
    workspace: "app",
    targetKey: targetKey(whole),
    change: whole,
    configHash: "c",
    priority: 10,
    status: "running",
    events: ["event"],
    admittedAt: firedAt,
    dueAt: firedAt,
    attempts: 0,
    losses: 0,
    expires: false,
    awaitsModel: false,
    token: LeaseToken.make(1)
  }
}

/** Tips by branch (`` is the default one), and older commits by the time they were newest until. */
const host = (
  commits: Readonly<Record<string, string>>
): { readonly client: ForgeClient; readonly asked: Array<string> } => {
  const asked: Array<string> = []
  const any = testForges(Effect.die("no pull request here")).client
  const profile = testSnapshotWith("w", "t").current().triggers.get("t")
  if (profile === undefined) throw new Error("the test configuration has a trigger")
  const newestCommit: ForgeClient["newestCommit"] = (_, { branch = "", until }) =>
    Effect.sync(() => {
      const name = until === undefined ? branch : `${branch}@${new Date(until).toISOString()}`
      asked.push(name)
      return commits[name]
    })
  const mergeQueue: HostMergeQueue = {
    commits: (repo, branch) =>
      Effect.map(newestCommit(repo, { branch }), (id) =>
        id === undefined ? [] : [{ id, parents: ["b", "h"], title: "Merge pull request #7 from a/b" }]
      ),
    tips: () => Effect.die("no commit of the group is rebased")
  }
  return { asked, client: { ...any(profile), newestCommit, mergeQueue } }
}

const range = (of: Entry, commits: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const { asked, client } = host(commits)
    const answer = yield* resolveRange(of, yield* toSnapshot(document, {}), client)
    return { asked, answer: "_tag" in answer ? inEnglish(answer) : answer }
  })

const push = (over: Partial<Change>) => entry({ target: { kind: "push", branch: "main" }, headRef: "main", ...over })
const manual = (over: Partial<Change>) => entry({ target: { kind: "manual", branch: "x" }, ...over })
const group = entry({
  target: { kind: "merge_group", branch: "queue/pr-7", number: 7 },
  headRef: "queue/pr-7",
  head: "g",
  base: "b",
  baseRef: "main"
})
const scheduled = entry({ target: { kind: "scheduled", branch: "main" }, headRef: "main" })

layer(Store.layerMemory)("range", (it) => {
  it.effect.each<readonly [string, Entry, Readonly<Record<string, string>>, unknown, ReadonlyArray<string>]>([
    ["a push says all", push({ base: "a", head: "b" }), {}, { head: "b", base: "a", baseRef: undefined }, []],
    ["a new branch: what it adds", push({ head: "b" }), { "": "d" }, { head: "b", base: "d", baseRef: "HEAD" }, [""]],
    ["an empty repository", push({ head: "b" }), {}, "the default branch has no commits", [""]],
    ["by hand, both ids", manual({ base: "a", head: "b" }), {}, { head: "b", base: "a", baseRef: undefined }, []],
    [
      "by hand, two branches",
      manual({ headRef: "feature", baseRef: "main" }),
      { feature: "f", main: "m" },
      { head: "f", base: "m", baseRef: "main" },
      ["feature", "main"]
    ],
    ["by hand, no base", manual({ head: "b" }), { "": "d" }, { head: "b", base: "d", baseRef: "HEAD" }, [""]],
    ["by hand, no such branch", manual({ headRef: "gone" }), {}, "branch gone has no commits", ["gone"]],
    [
      "a merge group",
      group,
      { "queue/pr-7": "g" },
      { head: "g", base: "b", baseRef: "main", members: [{ number: 7, head: "h" }] },
      ["queue/pr-7"]
    ],
    [
      "a merge group whose branch has another commit",
      group,
      { "queue/pr-7": "other" },
      "the merge group was merged or left its queue",
      ["queue/pr-7"]
    ],
    [
      "a merge group whose branch was removed",
      group,
      {},
      "the merge group was merged or left its queue",
      ["queue/pr-7"]
    ],
    [
      "a schedule's first run: since the time before",
      scheduled,
      { main: "m", "main@2026-03-09T03:00:00.000Z": "y" },
      { head: "m", base: "y", baseRef: undefined },
      ["main", "main@2026-03-09T03:00:00.000Z"]
    ],
    [
      "its first run, admitted a moment after the fire",
      { ...scheduled, admittedAt: firedAt + 250 },
      { main: "m", "main@2026-03-09T03:00:00.000Z": "y" },
      { head: "m", base: "y", baseRef: undefined },
      ["main", "main@2026-03-09T03:00:00.000Z"]
    ],
    [
      "its first run, admitted hours later because the service was down",
      { ...scheduled, admittedAt: firedAt + 6 * 3_600_000 },
      { main: "m", "main@2026-03-09T03:00:00.000Z": "y" },
      { head: "m", base: "y", baseRef: undefined },
      ["main", "main@2026-03-09T03:00:00.000Z"]
    ],
    [
      "nothing new",
      scheduled,
      { main: "m", "main@2026-03-09T03:00:00.000Z": "m" },
      "there are no new commits since then",
      ["main", "main@2026-03-09T03:00:00.000Z"]
    ],
    [
      "a run that is repeated",
      { ...scheduled, change: { ...scheduled.change, base: "a", head: "b" } },
      {},
      { head: "b", base: "a", baseRef: undefined },
      []
    ],
    [
      "of so many days",
      entry({ repo: { fullName: "Acme/Week" }, target: { kind: "scheduled", branch: "main" } }),
      { main: "m", "main@2026-03-03T03:00:00.000Z": "w" },
      { head: "m", base: "w", baseRef: undefined },
      ["main", "main@2026-03-03T03:00:00.000Z"]
    ],
    [
      "a branch younger than that",
      scheduled,
      { main: "m" },
      { head: "m", base: "0".repeat(40), baseRef: undefined },
      ["main", "main@2026-03-09T03:00:00.000Z"]
    ],
    [
      "a repository that was taken off the schedule",
      entry({ repo: { fullName: "acme/gone" }, target: { kind: "scheduled", branch: "main" } }),
      {},
      "trigger nightly no longer has this repository",
      []
    ]
  ])("%s", ([, of, commits, answer, asked]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* range(of, commits), { answer, asked: [...asked] })
    })
  )

  it.effect("a schedule goes on from the head of its last run", () =>
    Effect.gen(function* () {
      const runs = yield* Runs
      const begun = { entryId: "earlier", workspace: "app", targetKey: scheduled.targetKey, change: scheduled.change }
      const run = yield* runs.begin({ ...begun, head: "last", base: "x", configHash: "c" }, LeaseToken.make(1), 1)
      if (run === undefined) return yield* Effect.die(new Error("not begun"))
      yield* runs.move(run.id, LeaseToken.make(1), "analyzing", 2)
      yield* runs.complete(run.id, LeaseToken.make(1), analysis, [], 3)
      yield* runs.settle(run.id, "succeeded", { partial: false }, 4)
      const { answer } = yield* range(scheduled, { main: "m" })
      assert.deepStrictEqual(answer, { head: "m", base: "last", baseRef: undefined })
    })
  )
})
