/** Submitted changes of Subversion and Perforce: the workspace and the branch decide, and the filters of both. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { admitStream, listRoots, listWatchedPaths } from "../../src/admission/AdmitSubmitted.ts"
import type { ChangedStream } from "../../src/domain/ChangedStream.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import { inEnglish } from "../../src/text/en.ts"

const document = {
  triggers: [
    {
      name: "tree",
      kind: "subversion",
      repository_url: "https://svn.test/repo",
      watch_path: ["trunk/src", "branches"],
      exclude_cr_file: ["**/*.lock"]
    },
    { name: "second", kind: "subversion", repository_url: "https://svn.test/second" }
  ],
  review: {
    auto_commit: {
      delay_seconds: 60,
      exclude_sources: [
        { id: "release", vcs: "subversion", match: { message: { regex: "^\\[release\\]" } } },
        { id: "noisy", match: { author: { glob: "ada" }, branch: { glob: "noisy*" } } }
      ]
    }
  },
  workspaces: {
    instances: {
      web: {
        source_repo: { trigger: "tree", repo: "web" },
        review: { auto_commit: { include_branches: ["trunk", "1.x", "noisy-1"] } }
      },
      old: { source_repo: { trigger: "second", repo: "https://svn.test/second/branches/old" } },
      new: { match: [{ source: { repo_ref: { exact: "https://svn.test/second" }, branch: { exact: "trunk" } } }] },
      parts: { source_repo: { trigger: "second", repo: "https://svn.test/second/branches/parts/web%20client" } },
      off: { source_repo: { trigger: "second", repo: "https://svn.test/second/branches/off" }, enabled: false }
    }
  }
}

const decide = (
  branch: string,
  over: Partial<ChangedStream> = {},
  description = "Fix",
  trigger = "tree",
  base?: string,
  requestedBy?: string
) =>
  Effect.map(toSnapshot(document, {}), (snapshot) => {
    const profile = snapshot.triggers.get(trigger)
    if (profile === undefined) throw new Error("no trigger")
    const change = {
      vcs: "subversion",
      revision: "7",
      state: "submitted",
      base,
      author: "ada",
      client: undefined,
      description,
      workspaces: undefined,
      requestedBy
    } as const
    const stream = { branch, paths: ["src/a.c"], more: false, previous: "5", removed: false, tag: false, ...over }
    return admitStream(snapshot, profile, change, stream, 1000)
  })

describe("admit", () => {
  it.effect.each<readonly [string, string, string]>([
    ["branches/2.x", "Fix", "branch_not_watched"],
    ["trunk", "[release] 1.2", "source_excluded"]
  ])("what a person requests of %s (%s) is reviewed now, although a report of it is %s", ([branch, text, refusal]) =>
    Effect.gen(function* () {
      const reported = yield* decide(branch, {}, text)
      assert.isTrue(reported._tag === "Refused" && inEnglish(reported.reason).startsWith(refusal))
      const requested = yield* decide(branch, {}, text, "tree", undefined, "chat ada")
      assert.deepInclude(requested, { _tag: "Admitted", dueAt: 1000 })
      if (requested._tag === "Admitted") assert.strictEqual(requested.change.requestedBy, "chat ada")
    })
  )
  it.effect.each<readonly [string, Partial<ChangedStream>, string, string, string]>([
    ["trunk", {}, "Fix", "tree", "web"],
    ["branches/1.x", { paths: ["doc/a.txt"] }, "Fix", "tree", "web"],
    ["branches/2.x", {}, "Fix", "tree", "branch_not_watched"],
    ["trunk", { paths: ["doc/a.txt"] }, "Fix", "tree", "no_reviewed_path"],
    ["trunk", { paths: ["src/a.lock"] }, "Fix", "tree", "no_reviewed_path"],
    ["trunk", { paths: ["src/a.lock"], more: true }, "Fix", "tree", "web"],
    ["trunk", { paths: [""] }, "Fix", "tree", "web"],
    ["trunk", { removed: true }, "Fix", "tree", "branch_removed"],
    ["tags/1", { tag: true }, "Fix", "tree", "tag"],
    ["trunk", {}, "[release] 1.2", "tree", "source_excluded"],
    ["branches/noisy-1", {}, "Fix", "tree", "source_excluded"],
    ["trunk", {}, "Fix", "second", "new"],
    ["branches/old", {}, "Fix", "second", "old"],
    ["branches/off", {}, "Fix", "second", "workspace_disabled"],
    ["branches/none", {}, "Fix", "second", "repository_not_configured"],
    // A path outside of the layout is of the whole repository, which no workspace has.
    ["", { paths: ["docs/secret.c"] }, "Fix", "second", "repository_not_configured"],
    ["branches/parts", {}, "Fix", "second", "repository_not_configured"],
    ["branches/parts/web client", {}, "Fix", "second", "parts"]
  ])("%s %j %s of %s: %s", ([branch, over, description, trigger, expected]) =>
    Effect.gen(function* () {
      const decision = yield* decide(branch, over, description, trigger)
      assert.strictEqual(
        decision._tag === "Admitted" ? decision.workspace.id : inEnglish(decision.reason).split(":")[0],
        expected
      )
    })
  )
  it.effect("names the match rule by which its workspace is bound", () =>
    Effect.gen(function* () {
      const [matched, bound] = [yield* decide("trunk", {}, "Fix", "second"), yield* decide("trunk")]
      assert.deepInclude(matched, { _tag: "Admitted", rule: "match[0]" })
      assert.deepInclude(bound, { _tag: "Admitted", rule: undefined })
    })
  )
  it.effect("the change has its range, its author and the delay of automatic commits", () =>
    Effect.gen(function* () {
      const decision = yield* decide("trunk")
      assert.deepInclude(decision, { _tag: "Admitted", dueAt: 61_000 })
      if (decision._tag !== "Admitted") return
      const { author, base, head, repo, target } = decision.change
      assert.deepStrictEqual(
        { author, base, head, repo, target },
        {
          author: { username: "ada" },
          base: "5",
          head: "7",
          repo: { fullName: "web" },
          target: { kind: "push", branch: "trunk" }
        }
      )
    })
  )
})

it.effect.each<readonly [string | undefined, string]>([
  [undefined, "5"],
  ["3", "3"],
  ["7", "5"],
  ["9", "5"]
])("a reported base of %s: compared with %s", ([base, expected]) =>
  Effect.gen(function* () {
    const decision = yield* decide("trunk", {}, "Fix", "tree", base)
    assert.strictEqual(decision._tag === "Admitted" ? decision.change.base : "", expected)
  })
)

const depots = {
  triggers: [
    {
      name: "depot",
      kind: "perforce",
      depot_path: "//game/...",
      watch_path: ["//game/main/src", "code"],
      exclude_cr_file: ["**/*.uasset"]
    }
  ],
  review: { auto_commit: { delay_seconds: 60, include_branches: ["main", "rel/1"] } },
  workspaces: {
    instances: {
      main: { source_repo: { trigger: "depot", repo: "//game/main/..." } },
      rel: { match: [{ source: { repo_ref: { glob: "//game/rel/*" } } }] }
    }
  }
}

describe("admit changelists", () => {
  const decideDepot = (branch: string, paths: ReadonlyArray<string>, state: "submitted" | "shelved" = "submitted") =>
    Effect.map(toSnapshot(depots, {}), (snapshot) => {
      const profile = snapshot.triggers.get("depot")
      if (profile === undefined) throw new Error("no trigger")
      const change = {
        vcs: "perforce",
        revision: state === "shelved" ? "7-0123456789ab" : "7",
        state,
        base: undefined,
        author: "ada",
        client: "ada-laptop",
        description: "Fix",
        workspaces: undefined,
        requestedBy: undefined
      } as const
      const stream = { branch, paths, more: false, previous: "5", removed: false, tag: false }
      return { snapshot, profile, decision: admitStream(snapshot, profile, change, stream, 1000) }
    })

  it.effect.each<readonly [string, ReadonlyArray<string>, string]>([
    ["//game/main", ["src/a.c"], "main"],
    ["//game/main", ["code/a.c"], "main"],
    ["//game/main", ["doc/a.txt"], "no_reviewed_path"],
    ["//game/main", ["src/a.uasset"], "no_reviewed_path"],
    ["//game/rel/1", ["code/a.c"], "rel"],
    ["//game/rel/2", ["code/a.c"], "branch_not_watched"],
    ["//game/dev", ["code/a.c"], "repository_not_configured"],
    // Files of the depot outside of the repositories of the workspaces.
    ["//game", ["other/z.c"], "repository_not_configured"]
  ])("%s %j: %s", ([branch, paths, expected]) =>
    Effect.gen(function* () {
      const { decision } = yield* decideDepot(branch, paths)
      assert.strictEqual(
        decision._tag === "Admitted" ? decision.workspace.id : inEnglish(decision.reason).split(":")[0],
        expected
      )
    })
  )

  it.effect("a submitted changelist waits as a push does, a shelf is a target of its own and does not wait", () =>
    Effect.gen(function* () {
      const submitted = yield* decideDepot("//game/main", ["src/a.c"])
      assert.deepInclude(submitted.decision, { _tag: "Admitted", dueAt: 61_000 })
      const shelved = yield* decideDepot("//game/main", ["src/a.c"], "shelved")
      assert.deepInclude(shelved.decision, { _tag: "Admitted", dueAt: 1000 })
      if (submitted.decision._tag !== "Admitted" || shelved.decision._tag !== "Admitted") return
      assert.deepStrictEqual(submitted.decision.change.target, { kind: "push", branch: "//game/main" })
      assert.deepStrictEqual(shelved.decision.change.target, { kind: "commit", branch: "//game/main@=7" })
      assert.strictEqual(shelved.decision.change.headRef, "//game/main")
      assert.strictEqual(shelved.decision.change.repo.fullName, "game/main")
    })
  )

  it.effect("paths of the trigger and of its workspaces are roots of branches", () =>
    Effect.gen(function* () {
      const { profile, snapshot } = yield* decideDepot("//game/main", [])
      assert.deepStrictEqual(listRoots(snapshot, profile), ["//game", "//game/main"])
    })
  )
})

it.effect.each<readonly [string, Readonly<Record<string, unknown>>, ReadonlyArray<unknown>, ReadonlyArray<string>]>([
  ["no workspace watches anything", {}, [], []],
  ["workspaces watch their paths", {}, ["//a/main/...", "//a/rel"], ["//a/main/...", "//a/rel/..."]],
  ["one within another one", {}, ["//a/main/src/...", "//A/main", "//a/main2/..."], ["//A/main/...", "//a/main2/..."]],
  ["within the path of the trigger", { depot_path: "//a/..." }, ["//a/main/...", "//b/..."], ["//a/main/..."]],
  ["around the path of the trigger", { depot_path: "//a/main" }, ["//a/..."], ["//a/main/..."]],
  ["another name is the whole trigger", { depot_path: "//a/main/..." }, ["game", "//a/main/src"], ["//a/main/..."]],
  ["another name is the whole server", {}, ["game"], ["//..."]],
  ["a rule is the whole trigger", {}, ["//a/main/...", { match: [{ triggers: ["depot"] }] }], ["//..."]],
  ["a disabled one watches nothing", {}, ["//a/main/...", { enabled: false }], ["//a/main/..."]]
])("watched paths: %s", ([, trigger, workspaces, expected]) =>
  Effect.gen(function* () {
    const instances = workspaces.map((one, index) => {
      const repo = typeof one === "string" ? one : "game"
      const own = typeof one === "string" ? {} : Object(one)
      const bound = "match" in own ? {} : { source_repo: { trigger: "depot", repo } }
      return [`w${index}`, { ...bound, ...own }] as const
    })
    const snapshot = yield* toSnapshot(
      {
        triggers: [{ name: "depot", kind: "perforce", port: "p4.test:1666", user: "reviewer", ...trigger }],
        workspaces: { instances: Object.fromEntries(instances) }
      },
      {}
    )
    const profile = snapshot.triggers.get("depot") ?? (yield* Effect.die("no trigger"))
    assert.deepStrictEqual(listWatchedPaths(snapshot, profile), expected)
  })
)
