/** Requests from chat name any revision of a git host, and of Subversion and Perforce a number, or a branch that was reviewed. */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { findChatChange } from "../../../actors/chat/ChatReview.ts"
import { readDocument } from "../../../src/config/snapshots/Snapshots.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { Runs } from "../../../src/store/Runs.ts"

const { snapshot } = readDocument(
  {
    triggers: [
      { name: "tree", kind: "subversion", repository_url: "https://svn.example.com/repo" },
      { name: "shop", kind: "gitea", base_url: "https://git.example.com", webhook_secret: "s", token: "t" }
    ],
    workspaces: {
      instances: {
        svn: { enabled: true, source_repo: { trigger: "tree", repo: "https://svn.example.com/repo" } },
        web: { enabled: true, source_repo: { trigger: "shop", repo: "team/web" } }
      }
    }
  },
  {}
)

const sender = { type: "feishu_open_id", id: "ou_ada" } as const
const requestedBy = "chat feishu_open_id ou_ada"

const reviewed: Change = {
  provider: "subversion",
  trigger: "tree",
  workspace: "svn",
  repo: { fullName: "svn.example.com/repo" },
  target: { kind: "push", branch: "trunk" },
  head: "12",
  base: "11",
  headRef: "trunk"
}

const find = (id: string, revision: string, name: string) =>
  Effect.gen(function* () {
    const workspace = snapshot?.workspaces.get(id)
    if (snapshot === undefined || workspace === undefined) return yield* Effect.die("not configured")
    const { repo = "", trigger = "" } = workspace.instance.source_repo ?? {}
    return yield* findChatChange(snapshot, { alias: name, workspace, trigger, repo }, revision, sender)
  }).pipe(
    Effect.provide(
      Layer.mock(Runs, {
        list: ({ workspace }: { readonly workspace?: string | undefined }) =>
          Effect.succeed(
            workspace === "svn"
              ? [{ id: "run", change: reviewed, head: "12", createdAt: 1, status: "succeeded" } as never]
              : []
          )
      })
    )
  )

it.effect.each(["12", "r12", "trunk"])("revision %s of Subversion is reviewed again", (revision) =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* find("svn", revision, "tree"), { ...reviewed, requestedBy })
  })
)

it.effect("a revision that no report led to is looked for at its server, a branch without a review is refused", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* find("svn", "r13", "tree"), { _tag: "Unreported", vcs: "subversion", revision: "13" })
    assert.strictEqual(yield* find("svn", "branches/x", "tree"), "not_reviewed")
  })
)

it.effect("a pull request of a git host needs no earlier review", () =>
  Effect.gen(function* () {
    assert.deepInclude(yield* find("web", "7", "web"), { target: { kind: "pull_request", number: 7 }, requestedBy })
  })
)
