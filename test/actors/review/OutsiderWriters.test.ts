/** Everything that only writers may do, at hosts whose lists and teams also have people who may not write code. */
import { Effect, Layer } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { findOutsider } from "../../../actors/review/Outsider.ts"
import { loadSubject } from "../../../actors/review/ReviewSubject.ts"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { targetKey } from "../../../src/domain/Change.ts"
import type { Entry } from "../../../src/domain/Entry.ts"
import type { ForgeKind } from "../../../src/domain/Kinds.ts"
import { LeaseToken } from "../../../src/domain/FencingToken.ts"
import { forgeTable } from "../../../src/forge/hosts/ForgeTable.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { findDismissers } from "../../../src/outputs/review/Dismissal.ts"
import * as Store from "../../../src/store/StoreLayer.ts"
import { repoName, startHost, unpaced } from "../../forge/Clients.ts"
import type { Host } from "../../forge/Clients.ts"
import { getAccess } from "../../harness/FakeAccess.ts"
import type { FakeTeam } from "../../harness/FakeAccess.ts"
import { newTraffic } from "../../harness/Owners.ts"

/** Returns whether `person` may request a review, dismiss a problem, and have context repositories for members read. */
const rightsOf = async ({ forge, pull }: Host, person: string) => {
  const profile = forge.profile()
  // A client of its own, because permissions are cached for each.
  const client = forgeTable[profile.kind as ForgeKind].client(profile, newTraffic())
  const snapshot = await Effect.runPromise(
    toSnapshot(
      {
        triggers: [{ name: profile.name, kind: profile.kind, base_url: forge.url, webhook_secret: "s" }],
        workspaces: {
          instances: {
            app: {
              source_repo: { trigger: profile.name, repo: repoName },
              context_repositories: [{ alias: "private", kind: "git", url: "https://git.test/a" }]
            }
          }
        }
      },
      {}
    )
  )
  const [workspace] = snapshot.workspaces.values()
  if (workspace === undefined) throw new Error("the document has a workspace")
  const change: Change = {
    provider: profile.kind,
    trigger: profile.name,
    workspace: "app",
    repo: { fullName: repoName },
    target: { kind: "pull_request", number: pull.number },
    requestedBy: person
  }
  const entry: Entry = {
    id: "entry",
    workspace: "app",
    targetKey: targetKey(change),
    change,
    configHash: snapshot.hash,
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
  }
  const work = { entry, lease: { entryId: "entry", token: LeaseToken.make(1) }, snapshot, workspace, profile }
  const layers = Layer.mergeAll(Forges.layer, Store.layerMemory)
  return Effect.runPromise(
    unpaced(
      Effect.gen(function* () {
        const subject = yield* loadSubject(work)
        const mayDismiss = yield* findDismissers(client, change, "maintainers", [person])
        const { requestedBy: _, ...opened } = change
        const own = { ...opened, author: { username: person }, headRepo: { fullName: repoName } }
        const outsider = yield* findOutsider(own, workspace, client, Effect.die("the head is in the repository"))
        return { reviews: subject._tag === "Review", dismisses: mayDismiss(person), reads: outsider === undefined }
      }).pipe(Effect.provide(layers), Effect.orDie)
    )
  )
}

const everything = { reviews: true, dismisses: true, reads: true }
const nothing = { reviews: false, dismisses: false, reads: false }
const team = (id: number, code: string, members: ReadonlyArray<string>): FakeTeam => ({
  id,
  permission: code === "none" ? "write" : code,
  units: { "repo.code": code, "repo.issues": "write", "repo.pulls": "read" },
  members
})

describe.each(["gitea", "forgejo", "github", "gitlab"] as const)("at %s", (kind) => {
  let host: Host
  beforeAll(async () => {
    host = await startHost(kind)
  })
  afterAll(async () => {
    host.forge.expectContract()
    await host.forge.stop()
  })

  it.each([
    ["a collaborator", "write", everything],
    ["an administrator", "admin", everything],
    ["a reader", "read", nothing],
    ["nobody", "none", nothing]
  ] as const)("%s with the permission %s", async (_, level, rights) => {
    host.pull.repository.permissions.set("eve", level)
    expect(await rightsOf(host, "eve")).toEqual(rights)
  })

  it.runIf(kind === "gitea" || kind === "forgejo").each([
    ["a reader who may be assigned, to an account that may only write", "write", "read", [team(1, "read", ["eve"])]],
    ["a writer of whom the account may know nothing", "write", "write", undefined],
    ["a member of a team that may write issues only", "admin", "write", [team(1, "none", ["eve"])]]
  ] as const)("%s", async (_, own, level, teams) => {
    const { permissions } = host.pull.repository
    permissions.set("aicr", own)
    permissions.set("eve", level)
    getAccess(host.pull.repository).teams = teams
    expect(await rightsOf(host, "eve")).toEqual(nothing)
    getAccess(host.pull.repository).teams = undefined
    permissions.set("aicr", "admin")
  })
})
