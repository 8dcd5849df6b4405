/** Submitted changes of Subversion: the workspace and the branch decide, and the filters of both. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { admitStream } from "../../src/admission/AdmitSubmitted.ts"
import type { SubmittedStream } from "../../src/admission/AdmitSubmitted.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"

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
      exclude_sources: [{ id: "release", vcs: "subversion", match: { message: { regex: "^\\[release\\]" } } }]
    }
  },
  workspaces: {
    instances: {
      web: {
        source_repo: { trigger: "tree", repo: "web" },
        review: { auto_commit: { include_branches: ["trunk", "1.x"] } }
      },
      old: { source_repo: { trigger: "second", repo: "https://svn.test/second/branches/old" } },
      new: { match: [{ source: { repo_ref: { exact: "https://svn.test/second" }, branch: { exact: "trunk" } } }] },
      off: { source_repo: { trigger: "second", repo: "https://svn.test/second/branches/off" }, enabled: false }
    }
  }
}

const decide = (branch: string, over: Partial<SubmittedStream> = {}, description = "Fix", trigger = "tree") =>
  Effect.map(toSnapshot(document, {}), (snapshot) => {
    const profile = snapshot.triggers.get(trigger)
    if (profile === undefined) throw new Error("no trigger")
    const change = {
      vcs: "subversion",
      revision: "7",
      author: "ada",
      client: undefined,
      description,
      workspaces: undefined
    } as const
    const stream = { branch, paths: ["src/a.c"], more: false, previous: "5", removed: false, tag: false, ...over }
    return admitStream(snapshot, profile, change, stream, 1000)
  })

describe("admit", () => {
  it.effect.each<readonly [string, Partial<SubmittedStream>, string, string, string]>([
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
    ["trunk", {}, "Fix", "second", "new"],
    ["branches/old", {}, "Fix", "second", "old"],
    ["branches/off", {}, "Fix", "second", "workspace_disabled"],
    ["branches/none", {}, "Fix", "second", "repository_not_configured"]
  ])("%s %j %s of %s: %s", ([branch, over, description, trigger, expected]) =>
    Effect.gen(function* () {
      const decision = yield* decide(branch, over, description, trigger)
      assert.strictEqual(decision._tag === "Admitted" ? decision.workspace.id : decision.reason.split(":")[0], expected)
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
