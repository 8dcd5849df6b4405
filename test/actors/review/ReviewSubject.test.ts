/** The subject of a review according to the host, if the numeric id in a payload selected the workspace. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { inEnglish } from "../../../src/text/en.ts"
import { loadSubject, routedWork } from "../../../actors/review/ReviewSubject.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { administrator, targetKey } from "../../../src/domain/Change.ts"
import type { Entry } from "../../../src/domain/Entry.ts"
import type { ForgeKind } from "../../../src/domain/Kinds.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { testForges } from "../../harness/ActorParts.ts"

const source_repo = { trigger: "host", repo: "acme/app" }
const match = [{ source: { project_key: { exact: "5" } } }]

const entryOf = (change: Change, configHash: string): Entry => ({
  id: "entry",
  workspace: change.workspace,
  targetKey: targetKey(change),
  change,
  configHash,
  priority: 10,
  status: "running",
  events: ["event"],
  admittedAt: 0,
  dueAt: 0,
  attempts: 0,
  losses: 0,
  awaitsModel: false,
  expires: false,
  token: LeaseToken.make(1)
})

/** Loads the subject for a payload that names the project 5, at a host where the project has the given number. */
const subject = Effect.fnUntraced(function* (given: {
  readonly kind: ForgeKind
  readonly binding: object
  readonly target: Change["target"]
  readonly id: number
}) {
  const snapshot = yield* toSnapshot(
    {
      triggers: [{ name: "host", kind: given.kind, base_url: "https://host.test", webhook_secret: "s" }],
      workspaces: { instances: { app: given.binding } }
    },
    {}
  )
  const [workspace] = snapshot.workspaces.values()
  const [profile] = snapshot.triggers.values()
  if (workspace === undefined || profile === undefined) throw new Error("the document has one of each")
  const change: Change = {
    provider: given.kind,
    trigger: "host",
    workspace: "app",
    repo: { fullName: "acme/app", hostId: 5 },
    target: given.target,
    head: "h",
    base: "b"
  }
  const entry = entryOf(change, snapshot.hash)
  const unexpected = testForges(Effect.die("no pull request is asked for"))
  const pulls = testForges(Effect.succeed({ head: "h", state: "open" }))
  const client = {
    ...unexpected.client(profile),
    pull: (repo: Change["repo"], number: number) =>
      Effect.map(pulls.client(profile).pull(repo, number), (pull) => ({
        ...pull,
        repo: { ...repo, hostId: given.id }
      })),
    repositoryId: () => Effect.succeed(given.id)
  }
  const work = { entry, lease: { entryId: "entry", token: LeaseToken.make(1) }, snapshot, workspace, profile }
  return yield* loadSubject(work).pipe(Effect.provideService(Forges, { ...unexpected, client: () => client }))
})

const pull = { kind: "pull_request", number: 1 } as const
const push = { kind: "push", branch: "main" } as const

layer(Layer.fresh(Store.layerMemory))("a payload's number of a repository", (it) => {
  it.effect.each<readonly [string, Parameters<typeof subject>[0], boolean]>([
    ["GitLab, by name, same", { kind: "gitlab", binding: { source_repo }, target: pull, id: 5 }, true],
    ["GitLab, by name, another's", { kind: "gitlab", binding: { source_repo }, target: pull, id: 7 }, false],
    ["GitLab, by number, another's", { kind: "gitlab", binding: { match }, target: push, id: 7 }, false],
    ["GitLab, by number, same", { kind: "gitlab", binding: { match }, target: push, id: 5 }, true],
    ["Gitea, by name: it means nothing", { kind: "gitea", binding: { source_repo }, target: pull, id: 7 }, true],
    ["Gitea, by number, another's", { kind: "gitea", binding: { match }, target: pull, id: 7 }, false],
    ["GitHub, by number, another's push", { kind: "github", binding: { match }, target: push, id: 7 }, false]
  ])("%s", ([, given, reviewed]) =>
    Effect.map(subject(given), (found) => {
      assert.strictEqual(found._tag, reviewed ? "Review" : "Skip")
      if (found._tag === "Skip") assert.match(inEnglish(found.reason), /id 5, but acme\/app has id 7/)
    })
  )
})

layer(Layer.fresh(Store.layerMemory))("a comment on a pull request whose payload does not name the base", (it) => {
  const byBranch = (branch: object) => ({ match: [{ source: { repo_ref: { exact: "acme/app" }, branch } }] })
  it.effect.each<readonly [string, string, string]>([
    ["stays with the workspace of its base", "main", "main"],
    ["goes to the workspace of its base", "release/2", "releases"],
    [
      "is not reviewed where no workspace has its base",
      "topic",
      "no workspace reviews pull requests of acme/app into topic"
    ]
  ])("%s", ([, base, expected]) =>
    Effect.gen(function* () {
      const snapshot = yield* toSnapshot(
        {
          triggers: [{ name: "host", kind: "github", webhook_secret: "s" }],
          workspaces: {
            instances: { main: byBranch({ exact: "main" }), releases: byBranch({ glob: "release/*" }) }
          }
        },
        {}
      )
      const workspace = snapshot.workspaces.get("main")
      const profile = snapshot.triggers.get("host")
      if (workspace === undefined || profile === undefined) throw new Error("the document has both")
      const change: Change = {
        provider: "github",
        trigger: "host",
        workspace: "main",
        repo: { fullName: "acme/app" },
        target: pull,
        requestedBy: "ada"
      }
      const entry = entryOf(change, snapshot.hash)
      const work = { entry, lease: { entryId: "entry", token: LeaseToken.make(1) }, snapshot, workspace, profile }
      const head = { ...change, head: "h", base: "b", baseRef: base }
      const routed = routedWork(work, { _tag: "Review", change: head, head: "h", base: "b" })
      assert.strictEqual("_tag" in routed ? inEnglish(routed) : routed.workspace.id, expected)
      if (!("_tag" in routed)) assert.strictEqual(routed.entry.workspace, expected)
    })
  )
})

layer(Layer.fresh(Store.layerMemory))("settings of a pull request whose base only the host names", (it) => {
  const byBranch = (branch: string, review: object) => ({
    match: [{ source: { repo_ref: { exact: "acme/app" }, branch: { exact: branch } } }],
    review
  })
  it.effect.each<
    readonly [
      string,
      string,
      { readonly by?: string; readonly draft?: true; readonly labels?: ReadonlyArray<string> },
      string
    ]
  >([
    ["a draft where drafts are reviewed", "open", { draft: true }, "Review"],
    ["a draft where they are not", "main", { draft: true }, "the pull request is a draft"],
    ["a label that another workspace ignores", "open", { labels: ["hold"] }, "Review"],
    ["a label that is ignored", "main", { labels: ["hold"] }, "the pull request has the label hold"],
    ["a comment where commands are taken", "open", { by: "ada" }, "Review"],
    ["a comment where they are not", "main", { by: "ada" }, "workspace main does not accept comment commands"],
    ["what an administrator asks for", "main", { by: administrator("dana") }, "Review"]
  ])("%s", ([, base, state, expected]) =>
    Effect.gen(function* () {
      const { by, ...facts } = state
      const strict = { comment_commands: false, skip_drafts: true, labels: { ignore: ["hold"] } }
      const loose = { skip_drafts: false, labels: { ignore: [] } }
      const snapshot = yield* toSnapshot(
        {
          triggers: [{ name: "host", kind: "github", webhook_secret: "s" }],
          workspaces: { instances: { main: byBranch("main", strict), open: byBranch("open", loose) } }
        },
        {}
      )
      // The delivery was routed to the other one of the two.
      const workspace = snapshot.workspaces.get(base === "main" ? "open" : "main")
      const profile = snapshot.triggers.get("host")
      if (workspace === undefined || profile === undefined) throw new Error("the document has both")
      const change: Change = {
        provider: "github",
        trigger: "host",
        workspace: workspace.id,
        repo: { fullName: "acme/app" },
        target: pull,
        requestedBy: by
      }
      const entry = entryOf(change, snapshot.hash)
      const known = testForges(Effect.succeed({ head: "h", state: "open", baseRef: base, ...facts }))
      const client = { ...known.client(profile), canWrite: () => Effect.succeed(true) }
      const forges = Forges.of({ ...known, client: () => client })
      const work = { entry, lease: { entryId: "entry", token: LeaseToken.make(1) }, snapshot, workspace, profile }
      const found = yield* Effect.provideService(loadSubject(work), Forges, forges)
      assert.strictEqual(found._tag === "Skip" ? inEnglish(found.reason) : found._tag, expected)
    })
  )
})
